"""The tensors that are written for a value.

Slots are stored as they are. Where the uniform half of a key or of a fresh ciphertext came from a
seed, the hidden half is stored and the other expanded again. Of a secret key the ternary
coefficients are stored.
"""

from __future__ import annotations

import torch

from fhelium.config import CkksConfig
from fhelium.errors import StateError
from fhelium.serialization.container import TensorEntry
from fhelium.serialization.expansion import Expander
from fhelium.serialization.layout import TORCH_DTYPES, set_name
from fhelium.serialization.manifest import Stored
from fhelium.values import (
    Ciphertext,
    CkksState,
    EvaluationKeys,
    Plaintext,
    PublicKey,
    SecretKey,
    SwitchingKey,
)


def stored_tensors(value: Stored) -> list[tuple[TensorEntry, torch.Tensor]]:
    """Return the tensors to write for a value, on the CPU, and how the header names them.

    Raises:
        StateError: The payload is not what files hold: a word is no residue, a uniform half does
            not come from its seed, or a secret is not ternary.

    Example:
        >>> [(entry.name, entry.dtype, entry.shape) for entry, _ in stored_tensors(secret_key)]
        [('coefficients', 'I8', (1024,))]
    """
    if isinstance(value, CkksConfig):
        return []
    if isinstance(value, EvaluationKeys):
        expander = Expander(next(iter(value)).config)
        halves = enumerate(_hidden_half(key, expander) for key in value)
        return [_named(set_name(index), half) for index, half in halves]
    expander = Expander(value.config)
    if isinstance(value, SecretKey):
        return [_named("coefficients", _ternary(value, expander))]
    if isinstance(value, Ciphertext) and value.public_seed is not None:
        return [_named("hidden", _hidden_component(value, value.public_seed, expander))]
    if isinstance(value, Ciphertext | Plaintext):
        return [_named("data", _residues(value.data, value.state, expander))]
    return [_named("hidden", _hidden_half(value, expander))]


def halves(data: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return hidden and uniform half of a key's payload as views [*digit, limb, N].

    Example:
        >>> [tuple(half.shape) for half in halves(public_key.data)]
        [(6, 1024), (6, 1024)]
    """
    return (data[0], data[1]) if data.dim() == 3 else (data[:, 0], data[:, 1])


def file_order(half: torch.Tensor) -> torch.Tensor:
    """Return a half as files hold it: [limb, N], or [limb, digit, N] as storage in memory is.

    Example:
        >>> tuple(file_order(torch.zeros(2, 6, 1024)).shape)
        (6, 2, 1024)
    """
    return half if half.dim() == 2 else half.transpose(0, 1)


def _named(name: str, tensor: torch.Tensor) -> tuple[TensorEntry, torch.Tensor]:
    dtype = next(text for text, kind in TORCH_DTYPES.items() if kind == tensor.dtype)
    return TensorEntry(name, dtype, tuple(tensor.shape)), tensor


def _residues(data: torch.Tensor, state: CkksState, expander: Expander) -> torch.Tensor:
    """Return the payload on the CPU, and refuse words that a later load would refuse."""
    data = data.cpu()
    count = int(expander.strangers(data, state).sum())
    if count:
        raise StateError(
            "save_value",
            f"{count} words of the payload are no residues",
            "Every residue of a prime q is in [0, q)",
            "Make the value with an Engine; its payload was overwritten or never filled",
        )
    return data


def _hidden_half(key: PublicKey | SwitchingKey, expander: Expander) -> torch.Tensor:
    hidden, uniform = halves(key.data.cpu())
    if not torch.equal(uniform, expander.uniform_half(key.public_seed, uniform)):
        raise StateError(
            "save_value",
            f"the uniform half of the {type(key).__name__} does not come from its public_seed",
            "Files keep the seed in place of that half",
            "Make the key with an Engine",
        )
    return file_order(_residues(hidden, key.state, expander))


def _hidden_component(value: Ciphertext, seed: bytes, expander: Expander) -> torch.Tensor:
    data = _residues(value.data, value.state, expander)
    fresh = value.components == 2 and value.modulus_basis == "Q"
    if not fresh or not torch.equal(
        data[1], expander.public_component(seed, value.batch_shape, value.state)
    ):
        raise StateError(
            "save_value",
            "the second component of the Ciphertext does not come from its public_seed",
            "Files keep the seed in place of that component",
            "Take the seed away: Ciphertext(value.data, value.state)",
        )
    return data[0]


def _ternary(key: SecretKey, expander: Expander) -> torch.Tensor:
    data = _residues(key.data, key.state, expander)
    coefficients = expander.coefficients(data)
    ternary = bool(coefficients.abs().max() <= 1)
    if not ternary or not torch.equal(expander.secret(coefficients), data):
        raise StateError(
            "save_value",
            f"secret key {key.key_id} does not come from ternary coefficients",
            "Files keep the coefficients of a secret, each -1, 0 or 1",
            "Make the key with an Engine",
        )
    return coefficients.to(torch.int8)
