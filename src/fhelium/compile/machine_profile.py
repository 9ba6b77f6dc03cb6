"""A machine's measured times of ckks operations, as a plain JSON file."""

from __future__ import annotations

import inspect
import itertools
import json
import math
import statistics
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self, get_args

import torch

from fhelium.backend import builtin_registry
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.compile.example_calls import ExampleCall, PreparedExample
from fhelium.config import CkksConfig
from fhelium.errors import CompileError, FHEliumError
from fhelium.ir.dialects.ckks import CKKS
from fhelium.ir.operation import DeclaredOperation
from fhelium.values import Ciphertext, CkksState, Plaintext, ResidueRepresentation

FORMAT = "fhelium machine profile 1"
CACHED_BYTES = 64 << 20
"""Operands of more bytes fit into no cache."""
LEAST_MS = 3.0
"""Short calls are repeated until they took so long together."""
LIST_LENGTHS = (1, 4)
"""Lengths of list operands that are measured; others lie on the line through them."""

_ATTRIBUTES: dict[str, Callable[[CkksState, int], Any]] = {
    "value": lambda state, count: 0.5,
    "bound": lambda state, count: 1.0,
    "factor": lambda state, count: 1.0,
    "step": lambda state, count: 1,
    "steps": lambda state, count: tuple(range(1, count + 1)),
    "depth": lambda state, count: (state.depth or 0) + 1,
    "scale": lambda state, count: state.scale,
    "source_key_id": lambda state, count: "profiled",
}
"""An example for each attribute that an operation may ask for."""


@dataclass(frozen=True)
class Measurement:
    """How long one call took.

    Args:
        operation: Name in the IR.
        domain: Domain of its operands and result.
        count: Length of its list operand.
        depth: Depth of its operands.
        ms: Median over the repetitions, in milliseconds.
    """

    operation: str
    domain: str
    count: int
    depth: int
    ms: float


@dataclass(frozen=True)
class MachineProfile:
    """Measured times of one machine under one parameter set.

    Args:
        context_id: The parameters' identity.
        device: Where it was measured.
        threads: Threads of torch.
        measurements: Of every ckks operation, at a few depths.

    Example:
        >>> slow, fast = (Measurement("ckks.add", "ntt", 1, depth, ms)
        ...               for depth, ms in ((0, 2.0), (4, 1.0)))
        >>> profile = MachineProfile("context", "cpu", 1, (slow, fast))
        >>> profile.predict("ckks.add", "ntt", depth=2)
        1.5
    """

    context_id: str
    device: str
    threads: int
    measurements: tuple[Measurement, ...]

    def predict(self, operation: str, domain: str, depth: int, count: int = 1) -> float | None:
        """Return the milliseconds of a call, between the depths and list lengths measured.

        Args:
            operation: Name in the IR.
            domain: Domain of the first operand; an operation that changes it has one only.
            depth: Depth of the operands.
            count: Length of a list operand.

        Returns:
            None where the operation was not measured.
        """
        found: dict[int, list[tuple[int, float]]] = {}
        for entry in self.measurements:
            if (entry.operation, entry.domain) == (operation, domain):
                found.setdefault(entry.count, []).append((entry.depth, entry.ms))
        if not found:
            return None
        by_count = [(length, _between(sorted(points), depth)) for length, points in found.items()]
        return max(0.0, _between(sorted(by_count), count))

    def save(self, path: str | Path) -> None:
        """Write the profile as JSON."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1)
        Path(path).write_text(f"{text}\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a profile.

        Raises:
            CompileError: The file is no profile of this version.
        """
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
            if found.pop("format") != FORMAT:
                raise ValueError("another format")
            measurements = tuple(Measurement(**entry) for entry in found.pop("measurements"))
            return cls(measurements=measurements, **found)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CompileError(
                "MachineProfile.load",
                f"{path} is no machine profile: {type(error).__name__}",
                f"A profile is JSON that says {FORMAT!r}",
                "Make one with `fhelium profile FILE`",
            ) from error


def _between(points: list[tuple[int, float]], at: int) -> float:
    """Interpolate linearly, and extend the ends."""
    if len(points) == 1:
        return points[0][1]
    right = min(max(bisect_right([x for x, _ in points], at), 1), len(points) - 1)
    (x0, y0), (x1, y1) = points[right - 1], points[right]
    return y0 + (y1 - y0) * (at - x0) / (x1 - x0)


def measure_profile(
    config: CkksConfig,
    *,
    device: torch.device | str = "cpu",
    repetitions: int = 5,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> MachineProfile:
    """Time every ckks operation with the implementations that an Engine takes.

    Operands are residues drawn at random; no key is needed.

    Args:
        config: Parameters.
        device: Where to compute.
        repetitions: Calls of which the median is taken, after one that is not counted; of short
            calls there are more.
        progress: Called with measurements done and in all.

    Example:
        >>> from fhelium import compile as fc
        >>> profile = measure_profile(engine.config, repetitions=1)
        >>> captured_cost = fc.default_lower_and_fuse_pipeline().run(captured).cost(profile)
        >>> captured_cost.operations[0].ms > 0
        True
    """
    target = torch.device(device)
    resources = CkksDeviceResources(config=config, device=target)
    calls = list(profiled_calls(config))
    measurements = []
    for done, call in enumerate(calls):
        progress(done, len(calls))
        ms = _measured(call, resources, repetitions)
        state = call.state
        assert state.polynomial_domain is not None
        assert state.depth is not None
        name, domain = call.operation.name, state.polynomial_domain
        measurements.append(Measurement(name, domain, call.count, state.depth, ms))
    progress(len(calls), len(calls))
    return MachineProfile(
        config.context_id, str(target), torch.get_num_threads(), tuple(measurements)
    )


def _measured(call: ExampleCall, resources: CkksDeviceResources, repetitions: int) -> float:
    """Return the median milliseconds of a call.

    A Program reads another key at each step, so operands that fit into caches take turns.
    """
    config, device = call.state.config, resources.device
    below, shapes = min(config.primes), call.shapes()

    def drawn() -> PreparedExample:
        operands = [
            torch.randint(below, shape, dtype=config.dtype, device=device) for shape in shapes
        ]
        return call.prepared(operands, builtin_registry(), resources)

    nbytes = sum(map(math.prod, shapes)) * config.dtype.itemsize
    turns = itertools.cycle([drawn() for _ in range(4 if nbytes < CACHED_BYTES else 1)])
    times: list[float] = []
    while len(times) <= repetitions or sum(times) < LEAST_MS:
        prepared, started = next(turns), time.perf_counter()
        prepared()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        times.append(1e3 * (time.perf_counter() - started))
    return statistics.median(times[1:])


def profiled_calls(config: CkksConfig) -> Iterator[ExampleCall]:
    """Yield a call of every ckks operation at a few depths, in each domain that it accepts."""
    last = max(config.max_depth - 1, 0)
    for depth in sorted({0, last // 3, 2 * last // 3, last}):
        for operation, domain in itertools.product(CKKS.operations, ("coefficient", "ntt")):
            assert issubclass(operation, DeclaredOperation)
            variadic = any(kind.variadic for kind in operation.operand_kinds())
            for count in LIST_LENGTHS if variadic else (1,):
                call = accepted_call(operation, config, depth, domain, count)
                if call is not None:
                    yield call


def accepted_call(
    operation: type[DeclaredOperation], config: CkksConfig, depth: int, domain: Any, count: int = 1
) -> ExampleCall | None:
    """Return a call that the operation's own rule accepts, or None where it takes no such domain.

    Tried are ciphertexts in either form of residues, of two or three components at the scale of a
    value or of a product, and plaintexts prepared for a sum or for a product.
    """
    base = config.scale_at(depth)
    forms = get_args(ResidueRepresentation)
    tried = itertools.product(forms, (2, 3), (base, base**2), (False, True))
    for form, components, scale, factor in tried:
        ciphertext = CkksState(
            config=config,
            depth=depth,
            scale=scale,
            polynomial_domain=domain,
            modulus_basis="Q",
            residue_representation=form,
            components=components,
            insecure=config.insecure,
        )
        plaintext = ciphertext.replace(components=1)
        if factor:
            plaintext = plaintext.replace(
                polynomial_domain="ntt", residue_representation="montgomery"
            )
        call = _call(operation, ciphertext, plaintext, count)
        try:
            operation.transfer(*call.states, **dict(call.attributes))
        except FHEliumError:
            continue
        return call
    return None


def _call(
    operation: type[DeclaredOperation], ciphertext: CkksState, plaintext: CkksState, count: int
) -> ExampleCall:
    key = CkksState(config=ciphertext.config, insecure=ciphertext.insecure)
    states: list[Any] = []
    for kind in operation.operand_kinds():
        state = {Ciphertext: ciphertext, Plaintext: plaintext}.get(kind.value_class, key)
        states.append((state,) * count if kind.variadic else state)
    attributes = tuple(
        (name, _ATTRIBUTES[name](ciphertext, count))
        for name, parameter in inspect.signature(operation.transfer).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
    )
    return ExampleCall(operation, tuple(states), attributes)
