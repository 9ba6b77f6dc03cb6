"""CkksDeviceResources: every numerical table of one parameter set on one device."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import torch

from fhelium.backend.ckks import constants
from fhelium.backend.ntt.indices import radix2_indices
from fhelium.config import CkksConfig, Preset
from fhelium.errors import ImplementationError
from fhelium.native.runtime import require_device
from fhelium.native.wrapper import ckks_ops, ntt_ops, rns_ops
from fhelium.rng import RandomSource


class CkksDeviceResources:
    """Make and keep the tables that operations name by symbol.

    Symbols read ``family/...``: ``rns_parameters/<basis>/<depth>``,
    ``ntt_tables/packed/<basis>/<depth>``, ``ntt_indices/<direction>/<part>``,
    ``ntt_twiddles/<direction>/<basis>/<depth>``, ``key_switch_tables/<depth>``,
    ``mod_up/<depth>/<name>``, ``mod_down/<depth>/<name>``, ``rescale/<depth>/inverse``,
    ``embedding`` and ``scalar/<value>/<scale>/<depth>/<form>``. Tables of a deeper ciphertext
    are views of the full ones: dropped primes are the first rows.

    Args:
        config: Parameters, or what ``CkksConfig.parse`` takes.
        device: Device of the tables.
        rng_seed: For tests: seeds ``random_source``; warns.

    Example:
        >>> resources = CkksDeviceResources(config=engine.config, device="cpu")
        >>> tuple(resources.material("rns_parameters/Q/1").shape)
        (7, 3)
    """

    def __init__(
        self,
        *,
        config: CkksConfig | Preset | str | Mapping[str, Any],
        device: torch.device | str = "cpu",
        rng_seed: int | None = None,
    ) -> None:
        self.config = CkksConfig.parse(config)
        self.device = torch.device(device)
        self.random_source = RandomSource(rng_seed)
        self._tables: dict[str, torch.Tensor] = {}
        self._lock = threading.RLock()
        self._makers: dict[str, Callable[..., torch.Tensor]] = {
            "rns_parameters": self._rns_parameters,
            "ntt_tables": self._ntt_tables,
            "ntt_indices": self._ntt_indices,
            "ntt_twiddles": self._ntt_twiddles,
            "key_switch_tables": self._key_switch_tables,
            "mod_up": self._mod_up,
            "mod_down": self._mod_down,
            "rescale": self._rescale,
            "scalar": self._scalar,
            "embedding": self._embedding,
        }

    def material(self, symbol: str) -> torch.Tensor:
        """Return the table of a symbol, made on first use.

        Raises:
            ImplementationError: The symbol names no table of this parameter set.
            NativeError: The compiled module has no kernels for this device.
        """
        table = self._tables.get(symbol)
        if table is not None:
            return table
        family, *parts = symbol.split("/")
        with self._lock:
            if symbol in self._tables:
                return self._tables[symbol]
            maker = self._makers.get(family)
            if maker is None:
                raise ImplementationError(
                    "material",
                    f"the symbol is {symbol!r}, families are {sorted(self._makers)}",
                    "A numerical table is named by family and parts",
                    "Bind other materials, such as keys, yourself",
                )
            require_device(self.device)
            table = maker(*parts)
            # Scalars differ at every call; the prepared call that asked for one keeps it.
            if family != "scalar":
                self._tables[symbol] = table
            return table

    def materials(self, symbols: tuple[str, ...]) -> tuple[torch.Tensor, ...]:
        """Return the tables of several symbols."""
        return tuple(self.material(symbol) for symbol in symbols)

    def _rows(self, basis: str, depth: str | int) -> slice:
        end = len(self.config.q_primes) if basis == "Q" else len(self.config.primes)
        return slice(int(depth), end)

    def _tensor(self, values: list) -> torch.Tensor:
        """Hold numbers modulo the primes: they have the residues' type."""
        return torch.tensor(values, dtype=self.config.dtype, device=self.device)

    def _once(self, symbol: str, make: Callable[[], torch.Tensor]) -> torch.Tensor:
        if symbol not in self._tables:
            self._tables[symbol] = make()
        return self._tables[symbol]

    def _rns_parameters(self, basis: str, depth: str) -> torch.Tensor:
        full = self._once(
            "rns_parameters/full",
            lambda: rns_ops.rns_parameters(self._tensor(list(self.config.primes)), self.config.N),
        )
        return full[:, self._rows(basis, depth)]

    def _roots(self) -> torch.Tensor:
        return self._tensor([self.config.root(i) for i in range(len(self.config.primes))])

    def _ntt_tables(self, backend: str, basis: str, depth: str) -> torch.Tensor:
        full = self._once(
            f"ntt_tables/{backend}/full",
            lambda: ntt_ops.ntt_tables(
                self._roots(), self.config.N, self._rns_parameters("QP", "0")
            ),
        )
        return full[self._rows(basis, depth)]

    def _ntt_indices(self, direction: str, part: str) -> torch.Tensor:
        tensors = radix2_indices(self.config.N, inverse=direction == "inverse")
        for name, tensor in zip(("even", "odd", "schedule"), tensors, strict=True):
            self._tables[f"ntt_indices/{direction}/{name}"] = tensor.to(self.device)
        return self._tables[f"ntt_indices/{direction}/{part}"]

    def _ntt_twiddles(self, direction: str, basis: str, depth: str) -> torch.Tensor:
        full = self._once(
            "ntt_twiddles/full",
            lambda: ntt_ops.radix2_twiddles(
                self._roots(), self.config.N, self._rns_parameters("QP", "0")
            ),
        )
        return full[0 if direction == "forward" else 1][self._rows(basis, depth)]

    def _key_switch_tables(self, depth: str) -> torch.Tensor:
        return ckks_ops.key_switch_tables(
            self._digit_bounds(int(depth)),
            len(self.config.p_primes),
            self._rns_parameters("QP", depth),
            self.config.dtype,
        )

    def _digit_bounds(self, depth: int) -> torch.Tensor:
        return torch.tensor(constants.digit_bounds(self.config, depth), device=self.device)

    def _montgomery(self, values: list, basis: str, depth: int, rows: slice) -> torch.Tensor:
        """Write constants [..., limb] in the Montgomery form of each limb."""
        params = self._rns_parameters(basis, str(depth))[:, rows]
        standard = self._tensor(values)
        matrix = standard.reshape(-1, standard.shape[-1], 1)
        return rns_ops.to_montgomery(matrix, params).reshape(standard.shape)

    def _mod_up(self, depth: str, name: str) -> torch.Tensor:
        found = constants.digit_constants(self.config, int(depth))
        everything = slice(None)
        made = {
            "digit_bounds": self._digit_bounds(int(depth)),
            "digit_scale": self._montgomery(found["digit_scale"], "Q", int(depth), everything),
            "matrix": self._montgomery(found["matrix"], "QP", int(depth), everything),
            "correction": self._montgomery(found["correction"], "QP", int(depth), everything),
        }
        return self._keep(f"mod_up/{depth}", made, name)

    def _mod_down(self, depth: str, name: str) -> torch.Tensor:
        found = constants.special_constants(self.config, int(depth))
        special = slice(len(self.config.q_primes) - int(depth), None)
        everything = slice(None)
        made = {
            "special_scale": self._montgomery(found["special_scale"], "QP", int(depth), special)
        }
        for key in ("matrix", "correction", "special_inverse"):
            made[key] = self._montgomery(found[key], "Q", int(depth), everything)
        return self._keep(f"mod_down/{depth}", made, name)

    def _keep(self, prefix: str, made: dict[str, torch.Tensor], name: str) -> torch.Tensor:
        for key, tensor in made.items():
            self._tables[f"{prefix}/{key}"] = tensor
        return made[name]

    def _rescale(self, depth: str, name: str) -> torch.Tensor:
        inverse = constants.rescale_inverse(self.config, int(depth))
        return self._montgomery(inverse, "Q", int(depth) + 1, slice(None))

    def _scalar(self, value: str, scale: str, depth: str, form: str) -> torch.Tensor:
        residues = constants.scalar_residues(
            self.config, float.fromhex(value), float.fromhex(scale), int(depth)
        )
        if form == "standard":
            return self._tensor(residues).reshape(-1, 1)
        return self._montgomery(residues, "Q", int(depth), slice(None)).reshape(-1, 1)

    def _embedding(self) -> torch.Tensor:
        return ckks_ops.embedding_tables(self.config.N).to(self.device)
