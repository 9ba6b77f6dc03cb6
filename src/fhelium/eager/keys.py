"""Key generation methods of the Engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import torch

from fhelium.backend.ckks.key_generation import (
    make_public_key,
    make_switching_key,
    permute_secret,
    sample_secret,
    square_secret,
)
from fhelium.backend.memory import require_memory
from fhelium.eager.core import EngineCore
from fhelium.errors import OperandTypeError, StateError
from fhelium.rng import Domain
from fhelium.text import size_text
from fhelium.values import (
    ConjugationKey,
    EvaluationKeys,
    PublicKey,
    RelinearizationKey,
    RotationKey,
    SecretKey,
    SwitchingKey,
    conjugation_element,
    device_of,
    galois_element,
    key_state,
    require_same_device,
)

Progress = Callable[[int, int], None]
"""Called after each key with (keys made, keys in all)."""

_Key = TypeVar("_Key", bound=PublicKey | SwitchingKey)

_WORKING_KEYS = 2  # while a key is made, what it is made from takes as much as two more


class KeyMethods(EngineCore):
    """Make secret, public and evaluation keys. A secret key is never made unasked."""

    def create_secret_key(self, *, device: torch.device | str | None = None) -> SecretKey:
        """Draw a secret key: a uniform ternary polynomial.

        Args:
            device: Where the key lives; CPU when omitted.

        Returns:
            SecretKey, data [limb + K, N] on QP, with a fresh random ``key_id``.

        Example:
            >>> engine.create_secret_key().device
            device(type='cpu')

        Source:
            Bossuat et al. (IACR CiC 2025), "Security guidelines for implementing homomorphic
            encryption": ternary secrets.
        """
        operation = "create_secret_key"
        place = device_of(operation, "cpu" if device is None else device)
        resources = self.dispatcher(place).resources
        root = self._random.root(Domain.SECRET_KEY, operation)
        data = sample_secret(resources, self._ntt_backend, root)
        key_id = self._random.root(Domain.KEY_ID, operation)[:16].hex()
        state = key_state(self.config, key_id=key_id, components=1, insecure=self.insecure)
        return SecretKey(data, state)

    def create_public_key(
        self, secret_key: SecretKey, *, device: torch.device | str | None = None
    ) -> PublicKey:
        """Make the public key (-a s + e, a) that encrypts for a secret key.

        Args:
            secret_key: The key that will decrypt.
            device: Where the result lives; the secret key's device when omitted.

        Returns:
            PublicKey, data [2, limb + K, N] on QP; a is expanded from a public seed of its own.

        Raises:
            ContextMismatchError: The secret key belongs to other parameters.

        Example:
            >>> engine.create_public_key(secret_key).key_id == secret_key.key_id
            True

        Source:
            Lyubashevsky, Peikert, Regev (EUROCRYPT 2010), "On ideal lattices and learning with
            errors over rings".
        """
        return self._made("create_public_key", PublicKey, secret_key, device)

    def create_relinearization_key(
        self, secret_key: SecretKey, *, device: torch.device | str | None = None
    ) -> RelinearizationKey:
        """Make the key that brings a product's third component, under s^2, back to s.

        Args:
            secret_key: The key s.
            device: Where the result lives; the secret key's device when omitted.

        Returns:
            RelinearizationKey, data [digit, 2, limb + K, N] on QP.

        Raises:
            ContextMismatchError: The secret key belongs to other parameters.

        Example:
            >>> key = engine.create_relinearization_key(secret_key)
            >>> engine.relinearize(engine.square(x), key).components
            2

        Source:
            Han, Ki (CT-RSA 2020), hybrid key switching.
        """
        operation = "create_relinearization_key"
        self._require_secret_key(operation, secret_key)
        source = square_secret(self.dispatcher(secret_key.device).resources, secret_key.data)
        return self._made(operation, RelinearizationKey, secret_key, device, source)

    def create_rotation_key(
        self, step: int, secret_key: SecretKey, *, device: torch.device | str | None = None
    ) -> RotationKey:
        """Make the key for one rotation step; step +k moves slot i to slot i + k.

        OpenFHE, SEAL and Lattigo count steps in the other direction.

        Args:
            step: Any int that is not a multiple of the number of slots; it counts modulo that.
            secret_key: The key s.
            device: Where the result lives; the secret key's device when omitted.

        Returns:
            RotationKey with the canonical step, data [digit, 2, limb + K, N] on QP.

        Raises:
            StateError: The step is no int, or rotates by nothing (step 0 needs no key).
            ContextMismatchError: The secret key belongs to other parameters.

        Example:
            >>> engine.create_rotation_key(-1, secret_key).step == engine.config.num_slots - 1
            True

        Source:
            Cheon, Han, Kim, Kim, Song (EUROCRYPT 2018), section 4.1.
        """
        operation = "create_rotation_key"
        self._require_secret_key(operation, secret_key)
        canonical = self._canonical_step(operation, step)
        if canonical == 0:
            raise StateError(
                operation,
                f"step is {step}, which is 0 modulo {self.config.num_slots} slots",
                "Step 0 needs no key",
                "Leave it out",
            )
        source = permute_secret(secret_key.data, galois_element(canonical, self.config))
        return self._made(operation, RotationKey, secret_key, device, source, step=canonical)

    def create_conjugation_key(
        self, secret_key: SecretKey, *, device: torch.device | str | None = None
    ) -> ConjugationKey:
        """Make the key that conjugates every slot.

        Args:
            secret_key: The key s.
            device: Where the result lives; the secret key's device when omitted.

        Returns:
            ConjugationKey, data [digit, 2, limb + K, N] on QP.

        Raises:
            ContextMismatchError: The secret key belongs to other parameters.

        Example:
            >>> key = engine.create_conjugation_key(secret_key)
            >>> engine.conjugate(x, key).components
            2

        Source:
            Cheon, Han, Kim, Kim, Song (EUROCRYPT 2018), section 4.1.
        """
        operation = "create_conjugation_key"
        self._require_secret_key(operation, secret_key)
        source = permute_secret(secret_key.data, conjugation_element(self.config))
        return self._made(operation, ConjugationKey, secret_key, device, source)

    def create_switching_key(
        self,
        old_secret_key: SecretKey,
        new_secret_key: SecretKey,
        *,
        device: torch.device | str | None = None,
    ) -> SwitchingKey:
        """Make the key that brings ciphertexts under one secret key to another.

        Whoever holds it together with the new secret key can read everything under the old one.

        Args:
            old_secret_key: The key ciphertexts are under.
            new_secret_key: The key results will be under.
            device: Where the result lives; the new secret key's device when omitted.

        Returns:
            SwitchingKey, data [digit, 2, limb + K, N] on QP.

        Raises:
            ContextMismatchError: A secret key belongs to other parameters.
            DeviceMismatchError: The secret keys live on different devices.

        Example:
            >>> other = engine.create_secret_key()
            >>> engine.create_switching_key(secret_key, other).key_id == other.key_id
            True

        Source:
            Han, Ki (CT-RSA 2020), hybrid key switching.
        """
        operation = "create_switching_key"
        for secret_key in (old_secret_key, new_secret_key):
            self._require_secret_key(operation, secret_key)
        require_same_device(operation, [old_secret_key, new_secret_key])
        return self._made(
            operation,
            SwitchingKey,
            new_secret_key,
            device,
            old_secret_key.data,
            insecure=old_secret_key.insecure,
            source_key_id=old_secret_key.key_id,
        )

    def create_evaluation_keys(
        self,
        secret_key: SecretKey,
        *,
        steps: Iterable[int] = (),
        conjugation: bool = False,
        device: torch.device | str | None = None,
        progress: Progress | None = None,
    ) -> EvaluationKeys:
        """Make a set: the relinearization key, and rotation keys for some steps.

        The engine keeps none of them: a run that is cut short, by an error of ``progress`` or by
        Ctrl-C, leaves nothing behind.

        Cost:
            ``config.switching_key_nbytes()`` a key, which must fit into the memory available.

        Args:
            secret_key: The key s.
            steps: Rotation steps; equal ones modulo the number of slots are made once, and
                step 0 needs none.
            conjugation: Also make the conjugation key.
            device: Where the keys live; the secret key's device when omitted.
            progress: Called after each key with (made, in all); raise from it to cancel.

        Returns:
            EvaluationKeys; hand it to ``engine.add_keys`` where the computing happens.

        Raises:
            StateError: A step is no int.
            ContextMismatchError: The secret key belongs to other parameters.
            InsufficientMemoryError: The keys would not fit; the text names both sizes. Make fewer.

        Example:
            >>> keys = engine.create_evaluation_keys(secret_key, steps=(1, 2, 4))
            >>> keys.steps
            (1, 2, 4)
        """
        operation = "create_evaluation_keys"
        self._require_secret_key(operation, secret_key)
        if not isinstance(steps, Iterable):
            raise StateError(
                operation,
                f"steps is a {type(steps).__name__}, needed is a sequence of ints",
                "A set has a rotation key for each of several steps",
                f"Pass steps=({steps!r},)",
            )
        if progress is not None and not callable(progress):
            raise OperandTypeError(
                operation,
                f"progress is a {type(progress).__name__}",
                "It is called after each key with (made, in all)",
                "Pass a function, or leave it out",
            )
        wanted = dict.fromkeys(self._canonical_step(operation, step) for step in steps)
        canonical = [step for step in wanted if step]
        total = 1 + len(canonical) + bool(conjugation)
        self._require_room(operation, total, secret_key.device, device)
        keys = EvaluationKeys()

        def keep(key: RelinearizationKey | RotationKey | ConjugationKey) -> None:
            keys.add(key)
            if progress is not None:
                progress(len(tuple(keys)), total)

        keep(self.create_relinearization_key(secret_key, device=device))
        for step in canonical:
            keep(self.create_rotation_key(step, secret_key, device=device))
        if conjugation:
            keep(self.create_conjugation_key(secret_key, device=device))
        return keys

    def _require_room(
        self, operation: str, count: int, made_on: torch.device, device: torch.device | str | None
    ) -> None:
        nbytes = self.config.switching_key_nbytes()
        what = f"{count} keys of {size_text(nbytes)} and room to make them"
        remedy = "Make keys for fewer steps, or free memory"
        kept_on = made_on if device is None else device_of(operation, device)
        if kept_on.type == made_on.type:
            require_memory(operation, what, (count + _WORKING_KEYS) * nbytes, made_on, remedy)
        else:
            require_memory(operation, what, (1 + _WORKING_KEYS) * nbytes, made_on, remedy)
            require_memory(operation, what, count * nbytes, kept_on, remedy)

    def _made(
        self,
        operation: str,
        kind: type[_Key],
        secret_key: SecretKey,
        device: torch.device | str | None,
        source: torch.Tensor | None = None,
        *,
        insecure: bool = False,
        **details: Any,
    ) -> _Key:
        """Return a key to a secret: the public one, or the one that switches from a source."""
        self._require_secret_key(operation, secret_key)
        place = secret_key.device if device is None else device_of(operation, device)
        resources = self.dispatcher(secret_key.device).resources
        seed = self._random.root(Domain.PUBLIC_SEED, operation)
        root = self._random.root(Domain.KEY_ERROR, operation)
        common = (secret_key.data, seed, root)
        if source is None:
            data = make_public_key(resources, self._ntt_backend, *common)
        else:
            data = make_switching_key(resources, self._ntt_backend, source, *common)
        state = key_state(
            self.config,
            key_id=secret_key.key_id,
            components=2,
            insecure=insecure or self.insecure or secret_key.insecure,
        )
        return kind(data, state, public_seed=seed, **details).to(place)
