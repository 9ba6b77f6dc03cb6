"""CkksDeviceResources: every numerical table of one parameter set on one device."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final

import torch

from fhelium.backend.ckks import constants
from fhelium.backend.ntt import Transform, transform_symbols
from fhelium.backend.ntt.indices import radix2_indices
from fhelium.config import CkksConfig, Preset
from fhelium.errors import ImplementationError
from fhelium.native.runtime import require_device
from fhelium.native.wrapper import ckks_ops, ntt_ops, rns_ops
from fhelium.rng import RandomSource
from fhelium.values import device_of

_BASIS, _DEPTH = r"(?P<basis>QP?)", r"(?P<depth>0|[1-9]\d*)"
_DIRECTION = r"(?P<direction>forward|inverse)"
_HEX_FLOAT = r"-?0x\d\.[0-9a-f]+p[+-]\d+"
_VALUE, _SCALE = rf"(?P<value>{_HEX_FLOAT})", rf"(?P<scale>{_HEX_FLOAT})"
_FORMS: Final = {
    family: re.compile(form)
    for family, form in {
        "rns_parameters": rf"{_BASIS}/{_DEPTH}",
        "ntt_tables": rf"packed/{_BASIS}/{_DEPTH}",
        "ntt_indices": rf"{_DIRECTION}/(?P<part>even|odd|schedule)",
        "ntt_twiddles": rf"{_DIRECTION}/{_BASIS}/{_DEPTH}",
        "key_switch_tables": _DEPTH,
        "mod_up": rf"{_DEPTH}/(?P<name>digit_bounds|digit_scale|matrix|correction)",
        "mod_down": rf"{_DEPTH}/(?P<name>special_scale|matrix|correction|special_inverse)",
        "rescale": rf"{_DEPTH}/inverse",
        "scalar": rf"{_VALUE}/{_SCALE}/{_DEPTH}/(?P<form>standard|montgomery)",
        "embedding": "",
    }.items()
}
"""What follows a family in the symbols of its tables."""


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
        self.device = device_of("CkksDeviceResources", device)
        self.random_source = RandomSource(rng_seed)
        self._tables: dict[str | tuple[str], torch.Tensor] = {}
        self._lock = threading.RLock()

    def material(self, symbol: str) -> torch.Tensor:
        """Return the table of a symbol, made on first use.

        Raises:
            ImplementationError: The symbol names no table of this parameter set.
            NativeError: The compiled module has no kernels for this device.
        """
        table = self._tables.get(symbol)
        if table is not None:
            return table
        family, parts = self._parsed(symbol)
        with self._lock:
            if symbol in self._tables:
                return self._tables[symbol]
            require_device(self.device)
            table = getattr(self, f"_{family}")(**parts)
            # Scalars differ at every call; the prepared call that asked for one keeps it.
            if family != "scalar":
                self._tables[symbol] = table
            return table

    def materials(self, symbols: tuple[str, ...]) -> tuple[torch.Tensor, ...]:
        """Return the tables of several symbols."""
        return tuple(self.material(symbol) for symbol in symbols)

    def transform(self, ntt_backend: str, basis: str, depth: int) -> Transform:
        """Return both NTT directions on one basis and depth."""
        symbols = transform_symbols(ntt_backend, basis, depth)
        tables = dict(zip(symbols, self.materials(symbols), strict=True))
        return Transform.of(ntt_backend, basis, depth, tables)

    def _parsed(self, symbol: str) -> tuple[str, dict[str, Any]]:
        """Return a symbol's family and parts, or refuse one that names no table."""
        family, _, rest = symbol.partition("/")
        match = _FORMS[family].fullmatch(rest) if family in _FORMS else None
        parts: dict[str, Any] = match.groupdict() if match else {}
        if "depth" in parts:
            parts["depth"] = int(parts["depth"])
        if match and parts.get("depth", 0) <= self.config.max_depth - (family == "rescale"):
            return family, parts
        raise ImplementationError(
            "material",
            f"the symbol is {symbol!r}, families are {sorted(_FORMS)}, depths are 0 to "
            f"{self.config.max_depth}",
            "A numerical table is named by family and parts",
            "Bind other materials, such as keys, yourself",
        )

    def _rows(self, basis: str, depth: int) -> slice:
        return slice(depth, len(self.config.q_primes if basis == "Q" else self.config.primes))

    def _tensor(self, values: list) -> torch.Tensor:
        """Hold numbers modulo the primes: they have the residues' type."""
        return torch.tensor(values, dtype=self.config.dtype, device=self.device)

    def _whole(self, family: str, make: Callable[[], torch.Tensor]) -> torch.Tensor:
        """Return the table of all primes, of which depths are views; no symbol names it."""
        if (family,) not in self._tables:
            self._tables[family,] = make()
        return self._tables[family,]

    def _rns_parameters(self, basis: str, depth: int) -> torch.Tensor:
        full = self._whole(
            "rns_parameters",
            lambda: rns_ops.rns_parameters(self._tensor(list(self.config.primes)), self.config.N),
        )
        return full[:, self._rows(basis, depth)]

    def _roots(self) -> torch.Tensor:
        return self._tensor([self.config.root(i) for i in range(len(self.config.primes))])

    def _ntt_tables(self, basis: str, depth: int) -> torch.Tensor:
        full = self._whole(
            "ntt_tables",
            lambda: ntt_ops.ntt_tables(self._roots(), self.config.N, self._rns_parameters("QP", 0)),
        )
        return full[self._rows(basis, depth)]

    def _ntt_indices(self, direction: str, part: str) -> torch.Tensor:
        tensors = radix2_indices(self.config.N, inverse=direction == "inverse")
        made = dict(zip(("even", "odd", "schedule"), tensors, strict=True))
        return self._keep(f"ntt_indices/{direction}", made, part)

    def _ntt_twiddles(self, direction: str, basis: str, depth: int) -> torch.Tensor:
        full = self._whole(
            "ntt_twiddles",
            lambda: ntt_ops.radix2_twiddles(
                self._roots(), self.config.N, self._rns_parameters("QP", 0)
            ),
        )
        return full[0 if direction == "forward" else 1][self._rows(basis, depth)]

    def _key_switch_tables(self, depth: int) -> torch.Tensor:
        return ckks_ops.key_switch_tables(
            self._digit_bounds(depth),
            len(self.config.p_primes),
            self._rns_parameters("QP", depth),
            self.config.dtype,
        )

    def _digit_bounds(self, depth: int) -> torch.Tensor:
        return torch.tensor(constants.digit_bounds(self.config, depth), device=self.device)

    def _montgomery(self, values: list, rns_params: torch.Tensor) -> torch.Tensor:
        """Write constants [..., limb] in the Montgomery form of each limb."""
        standard = self._tensor(values)
        matrix = standard.reshape(-1, standard.shape[-1], 1)
        return rns_ops.to_montgomery(matrix, rns_params).reshape(standard.shape)

    def _mod_up(self, depth: int, name: str) -> torch.Tensor:
        found = constants.digit_constants(self.config, depth)
        on_q, on_qp = (self._rns_parameters(basis, depth) for basis in ("Q", "QP"))
        made = {
            "digit_bounds": self._digit_bounds(depth),
            "digit_scale": self._montgomery(found["digit_scale"], on_q),
            "matrix": self._montgomery(found["matrix"], on_qp),
            "correction": self._montgomery(found["correction"], on_qp),
        }
        return self._keep(f"mod_up/{depth}", made, name)

    def _mod_down(self, depth: int, name: str) -> torch.Tensor:
        on_q, on_qp = (self._rns_parameters(basis, depth) for basis in ("Q", "QP"))
        made = {
            key: self._montgomery(
                values, on_qp[:, on_q.shape[1] :] if key == "special_scale" else on_q
            )
            for key, values in constants.special_constants(self.config, depth).items()
        }
        return self._keep(f"mod_down/{depth}", made, name)

    def _keep(self, prefix: str, made: Mapping[Any, torch.Tensor], name: str) -> torch.Tensor:
        for key, tensor in made.items():
            self._tables[f"{prefix}/{key}"] = tensor.to(self.device)
        return self._tables[f"{prefix}/{name}"]

    def _rescale(self, depth: int) -> torch.Tensor:
        inverse = constants.rescale_inverse(self.config, depth)
        return self._montgomery(inverse, self._rns_parameters("Q", depth + 1))

    def _scalar(self, value: str, scale: str, depth: int, form: str) -> torch.Tensor:
        residues = constants.scalar_residues(
            self.config, float.fromhex(value), float.fromhex(scale), depth
        )
        if form == "standard":
            return self._tensor(residues).reshape(-1, 1)
        return self._montgomery(residues, self._rns_parameters("Q", depth)).reshape(-1, 1)

    def _embedding(self) -> torch.Tensor:
        return ckks_ops.embedding_tables(self.config.N).to(self.device)
