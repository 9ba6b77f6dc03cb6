"""What is left out of files and computed again: uniform halves from seeds, secrets from integers.

Saving computes it too and compares, so that nothing is left out that loading would not restore.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from fhelium.backend.ckks import CkksDeviceResources
from fhelium.backend.ckks.encryption import ComposedEncryption
from fhelium.backend.ckks.key_generation import (
    expand_public_half,
    expand_secret,
    secret_coefficients,
)
from fhelium.backend.ntt import DEFAULT_NTT_BACKEND
from fhelium.config import CkksConfig
from fhelium.native.wrapper import rns_ops
from fhelium.values import CkksState


class Expander:
    """Expand what files leave out, for one parameter set, on the CPU.

    Every NTT backend gives the same bits, so the default one serves.

    Args:
        config: The parameters of the ring.

    Example:
        >>> expander = Expander(engine.config)
        >>> half = expander.uniform_half(public_key.public_seed, public_key.data[1])
        >>> torch.equal(half, public_key.data[1])
        True
        >>> torch.equal(expander.secret(expander.coefficients(secret_key.data)), secret_key.data)
        True
    """

    def __init__(self, config: CkksConfig) -> None:
        self._resources = CkksDeviceResources(config=config)

    def strangers(self, data: torch.Tensor, state: CkksState) -> torch.Tensor:
        """Count, for each limb, the words [*batch, limb, N] that are no residues."""
        symbol = f"rns_parameters/{state.modulus_basis}/{state.depth}"
        return rns_ops.count_out_of_range(data, self._resources.material(symbol))

    def uniform_half(self, seed: bytes, like: torch.Tensor) -> torch.Tensor:
        """Expand a key's uniform half, Montgomery form, in the shape [*digit, limb, N] of like."""
        count = like.shape[0] if like.dim() == 3 else 1
        uniform = expand_public_half(self._resources, seed, count)
        rns_ops.to_montgomery_(uniform, self._resources.material("rns_parameters/QP/0"))
        return uniform.reshape(like.shape)

    def public_component(
        self, seed: bytes, batch_shape: Sequence[int], state: CkksState
    ) -> torch.Tensor:
        """Expand the second component [*batch, limb, N] of a ciphertext in the domain it has."""
        encryption = ComposedEncryption(self._resources, DEFAULT_NTT_BACKEND)
        in_ntt, depth = state.polynomial_domain == "ntt", state.depth or 0
        return encryption.public_component(seed, tuple(batch_shape), depth, to_ntt=in_ntt)

    def secret(self, coefficients: torch.Tensor) -> torch.Tensor:
        """Expand ternary coefficients, int64 [N], to a secret key's residues."""
        return expand_secret(self._resources, DEFAULT_NTT_BACKEND, coefficients)

    def coefficients(self, secret: torch.Tensor) -> torch.Tensor:
        """Return the integers that a secret key's residues expand from."""
        return secret_coefficients(self._resources, DEFAULT_NTT_BACKEND, secret)
