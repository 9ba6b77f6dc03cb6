"""Convenience methods that combine declared operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fhelium.errors import OperandTypeError
from fhelium.ir.dialects.ckks import (
    AddOp,
    CoefficientToNttOp,
    NttToCoefficientOp,
    RotateManyOp,
    RotateOp,
    SumPlaintextProductsOp,
)
from fhelium.ir.methods.core import DeclaredMethods, documented_by
from fhelium.ir.rules import chosen_domain, require_ciphertext, window
from fhelium.values import Ciphertext, Plaintext, PolynomialDomain


class CompositeMethods(DeclaredMethods):
    """Rotations by step, slot sums, and sums over lists."""

    def rotate_by_step(self, ciphertext: Ciphertext, step: int) -> Ciphertext:
        """Rotate the slots by a step with the matching key of ``engine.keys``.

        Slot i moves to slot i + step, as ``torch.roll(message, step)`` does. OpenFHE, SEAL and
        Lattigo count steps in the other direction.

        Shapes:
            [2, *batch, limb, N] -> the same shape.

        State:
            Unchanged but for the noise bound, which grows by one key switch; step 0 needs no key
            and gives a copy.

        Cost:
            One key switch.

        Args:
            ciphertext: The encrypted vector, two components.
            step: Any int; it counts modulo the number of slots.

        Raises:
            MissingKeyError: No key for this step; the text names its canonical form and the
                steps that exist. Make one with ``engine.create_rotation_key``.

        Example:
            >>> engine.add_keys(engine.create_rotation_key(-1, secret_key))
            >>> engine.rotate_by_step(x, -1).depth
            0

        Source:
            Cheon, Han, Kim, Kim, Song (EUROCRYPT 2018), section 4.1.
        """
        wanted = self._canonical_step("rotate_by_step", step)
        self._require_two_components("rotate_by_step", ciphertext)
        if wanted == 0:
            return ciphertext.clone()
        key = self._key_source.rotation(step)  # as it was asked for, so that an error names it
        return self._apply(RotateOp, ciphertext, key, step=key.step)

    @documented_by(RotateManyOp)
    def rotate_many_by_steps(
        self,
        ciphertext: Ciphertext,
        steps: Sequence[int],
        *,
        output_domain: PolynomialDomain | None = None,
    ) -> list[Ciphertext]:
        operation = "rotate_many_by_steps"
        self._require_two_components(operation, ciphertext)
        if not isinstance(steps, Iterable):
            raise OperandTypeError(
                operation,
                f"steps is a {type(steps).__name__}, needed is a list of ints",
                "The operation rotates by several steps",
                "Pass [step, ...]",
            )
        steps = tuple(steps)
        wanted = [self._canonical_step(operation, step) for step in steps]
        moving = tuple(step for step in wanted if step)
        results: Iterator[Ciphertext] = iter(())
        if moving:
            asked = [step for step, canonical in zip(steps, wanted, strict=True) if canonical]
            keys = [self._key_source.rotation(step) for step in asked]
            found = self._apply_many(
                RotateManyOp, ciphertext, keys, steps=moving, output_domain=output_domain
            )
            results = iter(found)
        return [
            next(results) if step else self._copy_in(operation, ciphertext, output_domain)
            for step in wanted
        ]

    def _copy_in(
        self, operation: str, ciphertext: Ciphertext, output_domain: PolynomialDomain | None
    ) -> Ciphertext:
        """Return a copy in the domain that was asked for."""
        found = ciphertext.polynomial_domain
        if chosen_domain(operation, output_domain, found) == found:
            return ciphertext.clone()
        return self._apply(
            CoefficientToNttOp if found == "coefficient" else NttToCoefficientOp, ciphertext
        )

    @documented_by(SumPlaintextProductsOp)
    def sum_plaintext_products(
        self,
        ciphertexts: Sequence[Ciphertext],
        plaintexts: Sequence[Plaintext] | Sequence[Sequence[Plaintext]],
    ) -> Ciphertext | list[Ciphertext]:
        listed = isinstance(plaintexts, list | tuple) and len(plaintexts) > 0
        if listed and all(isinstance(group, list | tuple) for group in plaintexts):
            return [self._apply(SumPlaintextProductsOp, ciphertexts, group) for group in plaintexts]
        return self._apply(SumPlaintextProductsOp, ciphertexts, plaintexts)

    def sum_slots(self, ciphertext: Ciphertext, size: int | None = None) -> Ciphertext:
        """Add up windows of slots: result slot i is the sum of slots i .. i + size - 1.

        With ``size=None`` every slot of the result holds the sum of all slots.

        Shapes:
            [2, *batch, limb, N] -> the same shape.

        State:
            Depth, scale and domain stay; the message bound grows by the factor ``size``.

        Cost:
            log2(size) key switches; keys for the steps -1, -2, -4 .. -size/2.

        Args:
            ciphertext: The encrypted vector, two components.
            size: A power of two up to the number of slots.

        Raises:
            StateError: The size is no such number.
            MissingKeyError: A key for one of the steps is missing.
            BoundError: The sum may not fit the modulus; declare a smaller ``message_bound``.

        Example:
            >>> steps = [-(2**k) for k in range(2)]
            >>> engine.add_keys(engine.create_evaluation_keys(secret_key, steps=steps))
            >>> total = engine.sum_slots(x, size=4)
            >>> clear = engine.decrypt_message(x, secret_key, real=True)
            >>> found = engine.decrypt_message(total, secret_key, real=True)
            >>> bool((found[0] - clear[:4].sum()).abs() < 1e-3)
            True

        Source:
            Halevi, Shoup (CRYPTO 2014), "Algorithms in HElib", total sums.
        """
        count = window("sum_slots", size, self.config.num_slots)
        self._require_two_components("sum_slots", ciphertext)
        step = 1
        total = ciphertext
        while step < count:
            total = self._apply(AddOp, total, self.rotate_by_step(total, -step))
            step *= 2
        return ciphertext.clone() if total is ciphertext else total

    def _require_two_components(self, operation: str, ciphertext: Ciphertext) -> None:
        """Refuse what a rotation would refuse, also where there is nothing to rotate."""
        self._require_ciphertext(operation, ciphertext)
        require_ciphertext(operation, ciphertext.state, components=2)
