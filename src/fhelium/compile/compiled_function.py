"""Callable Compile: a function that is compiled for the inputs it is called with."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, overload

import torch

from fhelium.backend import OperationBackend
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.compile.capture import capture, signature_of
from fhelium.compile.compilation import Compilation
from fhelium.compile.default_pipeline import default_lower_and_fuse_pipeline
from fhelium.compile.executable import ProgramExecutable
from fhelium.compile.held_values import HeldValues
from fhelium.compile.input_facts import (
    call_key,
    completed,
    number_specs,
    program_for,
    spec_key,
    spec_of,
)
from fhelium.compile.materials import EvaluationKeyRequirements, prepare_material_bindings
from fhelium.compile.pipeline import Pipeline
from fhelium.compile.specs import EngineSpec, InputSpec, StaticSpec
from fhelium.compile.workspace import CompileWorkspace
from fhelium.config import CkksConfig
from fhelium.errors import CompileInputError, OperandTypeError
from fhelium.ir.program import Program
from fhelium.values import Ciphertext, Plaintext

Source = Callable[..., Any] | Program
Spec = InputSpec | StaticSpec
GivenSpec = Spec | EngineSpec


@dataclass(frozen=True)
class Specialization:
    """A function compiled for inputs of certain facts.

    Args:
        compilation: What the pipeline made of it.

    Example:
        >>> from fhelium import compile as fc
        >>> moved = fc.compile(lambda x: torch.roll(x, 3), keys=[engine.keys])
        >>> [op.name for op in moved.prepare(x).compilation.program.operations]
        ['core.material', 'ckks.rotate', 'func.return']
    """

    compilation: Compilation

    @property
    def program(self) -> Program:
        """Return the Program at the end of the pipeline."""
        return self.compilation.program

    @property
    def key_requirements(self) -> EvaluationKeyRequirements:
        """Return the evaluation keys that a run needs; none has to exist yet."""
        return EvaluationKeyRequirements.of(self.compilation)


class CompiledFunction:
    """Compile a function or a Program at its first call for inputs of new facts; then run it.

    Facts of a ciphertext are its parameters, depth, scale, domain and components, and its device.
    Arguments that are neither encrypted, encoded nor tensors are static: the Program is
    specialised to their values. When a value that the function holds has changed, it is compiled
    anew. ``compile`` makes one.

    Example:
        >>> from fhelium import compile as fc
        >>> smoothed = fc.compile(lambda x: x + torch.roll(x, 3), keys=[engine.keys])
        >>> by_engine = engine.add(x, engine.rotate_by_step(x, 3))
        >>> torch.equal(smoothed(x).data, by_engine.data)
        True
    """

    def __init__(
        self,
        source: Source,
        *,
        inputs: Mapping[str, GivenSpec] | None = None,
        config: CkksConfig | None = None,
        keys: Iterable[Any] = (),
        pipeline: Pipeline | None = None,
        backend: OperationBackend | None = None,
    ) -> None:
        self._source = source
        numbers = number_specs(source) if isinstance(source, Program) else {}
        given = {**numbers, **(inputs or {})}
        self._engines = {k: spec for k, spec in given.items() if isinstance(spec, EngineSpec)}
        self._specs = {k: spec for k, spec in given.items() if not isinstance(spec, EngineSpec)}
        self._config = config
        self._pipeline = default_lower_and_fuse_pipeline() if pipeline is None else pipeline
        self._backend = OperationBackend() if backend is None else backend
        self._keys: tuple[Any, ...] = tuple(keys)
        self._lock = threading.RLock()
        self._specializations: dict[Hashable, Specialization] = {}
        self._executables: dict[Hashable, ProgramExecutable] = {}
        # The way of a call whose arguments have the facts of an earlier one, without the signature.
        self._calls: dict[Hashable, tuple[ProgramExecutable, tuple[int, ...]]] = {}
        self._resources: dict[Hashable, CkksDeviceResources] = {}
        self._statics: list[Any] = []
        self._held = HeldValues()
        if not isinstance(source, Program):
            functools.update_wrapper(self, source)
        self._signature = _signature(source, given)
        specs = (self._specs.get(name) for name in self._signature.parameters)
        self._numbers = {
            k for k, spec in enumerate(specs) if isinstance(spec, InputSpec) and spec.is_number
        }

    @property
    def source(self) -> Any:
        """Return the function or Program as it was given; a function still computes on tensors."""
        return self._source

    @property
    def specializations(self) -> tuple[Specialization, ...]:
        """Return what was compiled so far."""
        return tuple(self._specializations.values())

    def add_keys(self, *keys: Any) -> None:
        """Store evaluation keys for later runs; the server's side of a client's keys.

        Args:
            *keys: Relinearization, rotation and conjugation keys, or whole EvaluationKeys.
        """
        with self._lock:
            self._keys = (*self._keys, *keys)
            self._executables = {}
            self._calls = {}

    def prepare(self, *arguments: Any, **named: Any) -> Specialization:
        """Compile without a run, for values or for specs such as ``encrypted(depth=0)``.

        Args:
            *arguments: Values or specs, in the order of the parameters. A parameter that is left
                out takes its spec from ``inputs``.
            **named: The same by name.

        Returns:
            The specialisation; later calls with inputs of these facts use it.

        Raises:
            OperandTypeError: There are more arguments than parameters, or of other names.
            CompileInputError: An argument is missing or not what its spec says, or the parameters
                of the ring are not known.
            CaptureError: The function does something that no operation stands for.
            PassError: A pass cannot do its work, or depth runs out; the text names the operation.
        """
        self._drop_outdated()
        values = self._bound(arguments, named)
        return self._specialized(self._specs_of(values), values)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run on values, compiled first if inputs of these facts are new.

        Returns:
            The result, or a tuple of them.

        Raises:
            OperandTypeError: There are more arguments than parameters, or of other names.
            CompileInputError: A value is missing, or is not what its spec in ``inputs`` says.
            LinkError: Evaluation keys are missing; the text names them.
            ExecutionInputError: The inputs do not fit one another.
        """
        self._drop_outdated()
        key = None if named else call_key(arguments, self._numbers)
        known = None if key is None else self._calls.get(key)
        if known is not None:
            executable, positions = known
            return executable.run(*[arguments[position] for position in positions])
        values = self._bound(arguments, named)
        specs = self._specs_of(values)
        dynamic = [name for name, spec in specs.items() if isinstance(spec, InputSpec)]
        for name in dynamic:
            if name not in values:
                raise self._missing(name, "Pass its value; a spec alone is enough for prepare")
        executable = self._executable(specs, values)
        positions = tuple(list(specs).index(name) for name in dynamic)
        if key is not None and all(position < len(arguments) for position in positions):
            self._calls[key] = executable, positions
        return executable.run(*[values[name] for name in dynamic])

    def _drop_outdated(self) -> None:
        """Forget what was compiled before a value that the function holds has changed."""
        if self._held.unchanged():
            return
        with self._lock:
            self._specializations, self._executables, self._calls = {}, {}, {}
            self._statics, self._held = [], HeldValues()

    def _bound(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by parameter."""
        try:
            bound = self._signature.bind_partial(*arguments, **named)
        except TypeError as error:
            raise OperandTypeError(
                f"compile of {self._name}",
                str(error),
                f"The parameters are {list(self._signature.parameters)}",
                "Pass these alone; config=, keys= and inputs= belong to fhelium.compile.compile",
            ) from error
        bound.apply_defaults()
        return bound.arguments

    def _specs_of(self, values: Mapping[str, Any]) -> dict[str, Spec]:
        specs = {}
        for name in self._signature.parameters:
            given = self._specs.get(name)
            if name in values:
                specs[name] = spec_of(name, values[name], given)
            elif given is not None:
                specs[name] = given
            else:
                raise self._missing(name, "Pass a value, or a spec such as encrypted(depth=0)")
        return specs

    def _missing(self, name: str, remedy: str) -> CompileInputError:
        return CompileInputError(
            f"compile of {self._name}",
            f"{name!r} is missing",
            "Each parameter has a value or a spec",
            remedy,
        )

    def _specialized(self, specs: Mapping[str, Spec], values: Mapping[str, Any]) -> Specialization:
        config = self._config_of(values)
        specs = {name: completed(spec, config) for name, spec in specs.items()}
        key = (config.context_id, *(spec_key(name, spec) for name, spec in specs.items()))
        with self._lock:
            if key not in self._specializations:
                workspace = CompileWorkspace({CkksConfig: config})
                if isinstance(self._source, Program):
                    program = program_for(self._source, specs)
                    captured = Compilation(program, workspace)
                else:
                    inputs = {**self._engines, **specs}
                    captured = capture(self._source, inputs=inputs, workspace=workspace)
                    fixed = (spec for spec in specs.values() if isinstance(spec, StaticSpec))
                    self._statics += [spec.value for spec in fixed]
                    # After the capture, which may itself change what the function holds.
                    self._held = HeldValues([self._source, *self._statics])
                self._specializations[key] = Specialization(self._pipeline.run(captured))
            return self._specializations[key]

    def _executable(
        self, specs: Mapping[str, Spec], values: Mapping[str, Any]
    ) -> ProgramExecutable:
        device = next((v.device for v in values.values() if isinstance(v, Ciphertext)), None)
        config = self._config_of(values)
        key = (
            config.context_id,
            device,
            *(spec_key(name, spec) for name, spec in specs.items()),
        )
        found = self._executables.get(key)
        if found is not None:
            return found
        with self._lock:
            if key not in self._executables:
                compilation = self._specialized(specs, values).compilation.copy()
                resources = self._resources_on(config, device or torch.device("cpu"))
                prepare_material_bindings(
                    compilation,
                    resources=resources,
                    keys=self._keys,
                    registry=self._backend.registry,
                )
                self._executables[key] = self._backend.link(compilation)
            return self._executables[key]

    def _resources_on(self, config: CkksConfig, device: torch.device) -> CkksDeviceResources:
        key = (config.context_id, device)
        if key not in self._resources:
            self._resources[key] = CkksDeviceResources(config=config, device=device)
        return self._resources[key]

    def _config_of(self, values: Mapping[str, Any]) -> CkksConfig:
        for value in values.values():
            if isinstance(value, Ciphertext | Plaintext):
                return value.state.config
        if self._config is None:
            raise CompileInputError(
                f"compile of {self._name}",
                "no argument is encrypted and no config was given",
                "Depths, scales and steps are those of a parameter set",
                "Pass config= to compile, or a ciphertext",
            )
        return self._config

    @property
    def _name(self) -> str:
        if isinstance(self._source, Program):
            return self._source.name
        return getattr(self._source, "__name__", type(self._source).__name__)

    def __repr__(self) -> str:
        count = len(self._specializations)
        return f"CompiledFunction({self._name}, {count} specialisation{'s' * (count != 1)})"


def _signature(source: Source, specs: Mapping[str, GivenSpec]) -> inspect.Signature:
    """Return what a caller passes: the parameters without the Engine's, or a Program's inputs."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if isinstance(source, Program):
        found = inspect.Signature([inspect.Parameter(name, kind) for name in source.input_names])
    else:
        found = signature_of(getattr(source, "__name__", type(source).__name__), source)
    unknown = specs.keys() - found.parameters.keys()
    if unknown:
        raise CompileInputError(
            "compile",
            f"inputs= names {sorted(unknown)}, the parameters are {list(found.parameters)}",
            "A spec says something of a parameter",
            "Name it as the parameter is named",
        )
    passed = [
        parameter
        for name, parameter in found.parameters.items()
        if not isinstance(specs.get(name), EngineSpec)
    ]
    return found.replace(parameters=passed)


@overload
def compile(
    source: Source,
    *,
    inputs: Mapping[str, GivenSpec] | None = None,
    config: CkksConfig | None = None,
    keys: Iterable[Any] = (),
    pipeline: Pipeline | None = None,
    backend: OperationBackend | None = None,
) -> CompiledFunction: ...


@overload
def compile(
    source: None = None,
    *,
    inputs: Mapping[str, GivenSpec] | None = None,
    config: CkksConfig | None = None,
    keys: Iterable[Any] = (),
    pipeline: Pipeline | None = None,
    backend: OperationBackend | None = None,
) -> Callable[[Source], CompiledFunction]: ...


def compile(source: Source | None = None, **options: Any) -> Any:
    """Make a torch function compute on ciphertexts; a decorator, with or without options.

    The function is written for tensors, or against the Engine. Called with ciphertexts it is
    captured, lowered, relinearized, rescaled, aligned and linked once for inputs of their depth,
    scale and domain, and run; later calls with such inputs only run.

    Args:
        source: A function of vectors, or a Program.
        inputs: Specs by parameter, for facts that a value does not show, such as
            ``encrypted(slots=16)`` or ``count()``, for parameters that are left out of ``prepare``,
            and for the Engine of a function that is written against one: ``engine()``. It is not
            passed.
        config: Parameters of the ring, where ``prepare`` is called before any ciphertext exists.
        keys: Evaluation keys; ``add_keys`` adds more.
        pipeline: Passes to run; ``default_lower_and_fuse_pipeline()`` when omitted.
        backend: Implementations to link with.

    Raises:
        CompileInputError: ``inputs`` names what is no parameter.
        CaptureError: At the first call: the function does something no operation stands for.

    Example:
        >>> import torch
        >>> from fhelium import compile as fc
        >>> from fhelium.config import CkksConfig
        >>> @fc.compile(config=CkksConfig.parse("slots4096_scale40_depth2_int64"))
        ... def score(x, y):
        ...     return x * y + torch.roll(x, 1)
        >>> ready = score.prepare(*2 * [fc.encrypted(depth=0, polynomial_domain="ntt")])
        >>> ready.key_requirements.steps, ready.key_requirements.needs_relinearization
        ((1,), True)
    """
    if source is None:
        return functools.partial(compile, **options)
    return CompiledFunction(source, **options)
