"""Short ways to compile, link and execute in tests."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fhelium import Ciphertext, CkksConfig, Engine, EvaluationKeys, PublicKey, SecretKey
from fhelium import compile as fc
from fhelium.backend import OperationBackend
from fhelium.backend.ckks import CkksDeviceResources
from fhelium.errors import InsecureWarning

TO_CKKS = (
    fc.LowerSemanticToLogicalPass(),
    fc.LowerLogicalToCkksPass(),
    fc.ResolveRotationKeyOperandsPass(),
    fc.AssignCkksDepthsPass(),
    fc.AssignCkksScalesPass(),
)


@dataclass(frozen=True)
class CompileRing:
    """An engine with its keys, and tables to bind."""

    engine: Engine
    secret_key: SecretKey
    public_key: PublicKey
    keys: EvaluationKeys
    resources: CkksDeviceResources

    @classmethod
    def make(cls, steps: Sequence[int]) -> CompileRing:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InsecureWarning)
            config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        engine = Engine(config)
        secret_key = engine.create_secret_key()
        keys = engine.create_evaluation_keys(secret_key, steps=steps, conjugation=True)
        engine.add_keys(keys)
        public_key = engine.create_public_key(secret_key)
        return cls(engine, secret_key, public_key, keys, CkksDeviceResources(config=config))

    @property
    def config(self) -> CkksConfig:
        return self.engine.config

    def encrypt(self, message: Any, **options: Any) -> Ciphertext:
        return self.engine.encrypt_message(message, self.public_key, **options)

    def capture(self, function: Callable[..., Any], **inputs: Any) -> fc.Compilation:
        workspace = fc.CompileWorkspace({CkksConfig: self.config})
        return fc.capture(function, inputs=inputs, workspace=workspace)

    def parse(self, text: str) -> fc.Compilation:
        workspace = fc.CompileWorkspace({CkksConfig: self.config})
        return fc.Compilation(fc.Program.parse(text), workspace)

    def bind(self, compilation: fc.Compilation, **options: Any) -> tuple[str, ...]:
        return fc.prepare_material_bindings(
            compilation, resources=self.resources, keys=[self.keys], **options
        )

    def link(self, compilation: fc.Compilation) -> fc.ProgramExecutable:
        bound = compilation.copy()
        assert self.bind(bound) == ()
        return OperationBackend().link(bound)

    def emitted(self, compilation: fc.Compilation, kind: type) -> Callable[..., Any]:
        """Return the function of an emitter's source, with its materials bound."""
        step = {
            fc.EagerPythonSource: fc.EmitEagerPythonPass(),
            fc.BackendPythonSource: fc.EmitBackendPythonPass(),
        }[kind]
        found = fc.Pipeline((step,)).run(compilation)
        source = found.workspace[kind]
        function = load(source)
        if kind is fc.EagerPythonSource:
            materials = {symbol: self.key(symbol) for symbol in source.material_symbols}
            return lambda *values: function(self.engine, *values, materials=materials, resources={})
        assert self.bind(found) == ()
        return lambda *values: function(
            *(value.data for value in values), materials=found.material_bindings, resources={}
        )

    def key(self, symbol: str) -> Any:
        name, _, step = symbol.partition(":")
        if name == "rotation-key":
            return self.keys.rotation(int(step))
        return {
            "relinearization-key": self.keys.relinearization,
            "conjugation-key": self.keys.conjugation,
        }[name]()


def load(source: fc.GeneratedPythonSource) -> Callable[..., Any]:
    """Execute a source in a namespace of its own and return its function."""
    namespace: dict[str, Any] = {}
    exec(source.source, namespace)
    return namespace[source.entry_point]


def ciphertext_type(**axes: Any) -> str:
    """Write a ciphertext type as text."""
    shown = ", ".join(f"{name} = {value}" for name, value in axes.items())
    return f"!ckks.ciphertext<{shown}>" if shown else "!ckks.ciphertext"
