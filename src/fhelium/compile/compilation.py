"""A Compilation: a Program with what belongs to it on its way to a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from fhelium.compile.workspace import CompileWorkspace
from fhelium.config import CkksConfig
from fhelium.errors import OperandTypeError, SecretExposureError
from fhelium.ir.program import Program
from fhelium.ir.simulation import SimulatedValue
from fhelium.values import CkksState, Plaintext, SecretKey, SwitchingKey

if TYPE_CHECKING:
    from fhelium.backend import OperationBackend
    from fhelium.compile.cost_report import ProgramCost
    from fhelium.compile.executable import ProgramExecutable
    from fhelium.compile.machine_profile import MachineProfile


@dataclass(frozen=True)
class PassReport:
    """Say what one pass did.

    Args:
        name: The pass.
        operations_before: Operations of the Program before it.
        operations_after: Operations after it.
        seconds: How long it took, verification included.

    Example:
        >>> from fhelium import compile as fc
        >>> (report,) = fc.Pipeline((fc.EliminateDeadValuesPass(),)).run(captured).reports
        >>> report.name, report.operations_before, report.operations_after
        ('EliminateDeadValuesPass', 3, 3)
    """

    name: str
    operations_before: int
    operations_after: int
    seconds: float


@dataclass
class Compilation:
    """Hold a Program, the workspace of its passes, and the tensors bound to its materials.

    Args:
        program: The Program at this stage.
        workspace: Shared with every compilation that this one came from or leads to.
        reports: What the passes did so far.
        material_bindings: Tensors by symbol; ``prepare_material_bindings`` fills them.
        public_values: The keys and encoded vectors among what is bound, by symbol; ``bind`` notes
            them.
        state_program: The ciphertext operations that a Program of residues came from. Residues have
            no scale and no bounds: the states of a run's results are found here.

    Example:
        >>> from fhelium import compile as fc
        >>> fc.Compilation(captured.program, captured.workspace)
        Compilation(Program(@f, 3 operations), 0 materials bound)
    """

    program: Program
    workspace: CompileWorkspace
    reports: tuple[PassReport, ...] = ()
    material_bindings: dict[str, torch.Tensor] = field(default_factory=dict)
    public_values: dict[str, SwitchingKey | Plaintext] = field(default_factory=dict)
    state_program: Program | None = None

    def copy(self) -> Compilation:
        """Return a compilation with a Program and bindings of its own; the workspace is shared."""
        return Compilation(
            self.program.clone(),
            self.workspace,
            self.reports,
            dict(self.material_bindings),
            dict(self.public_values),
            None if self.state_program is None else self.state_program.clone(),
        )

    @property
    def key_states(self) -> dict[str, CkksState]:
        """Return the states of the bound keys and encoded vectors, by symbol."""
        return {symbol: value.state for symbol, value in self.public_values.items()}

    def bind(self, symbol: str, value: SwitchingKey | Plaintext) -> None:
        """Bind a material to an evaluation key or an encoded vector.

        Args:
            symbol: The material.
            value: What it stands for.

        Raises:
            SecretExposureError: The value is a secret key.
            OperandTypeError: The value is of another kind.
        """
        require_public("bind", symbol, value)
        self.material_bindings[symbol] = value.data
        self.public_values[symbol] = value

    def link(self, backend: OperationBackend) -> ProgramExecutable:
        """Resolve every operation with a backend and return an executable.

        This compilation stays as it is. ``backend.link(compilation)`` does the same.

        Raises:
            LinkError: An operation is abstract, or materials are not bound.
            ImplementationError: No implementation serves an operation, or several do.
        """
        from fhelium.compile.linking import link

        return link(self, backend)

    def simulate(
        self, inputs: Mapping[str, Any], *, message_bound: float = 1.0
    ) -> tuple[SimulatedValue, ...]:
        """Compute on clear vectors with the errors of a run, as ``Program.simulate`` says.

        A Program that was lowered to residues is simulated as the ciphertext operations that it
        came from.

        Args:
            inputs: Clear slots of every input by name, and of encoded materials by symbol; public
                numbers as they are.
            message_bound: Largest magnitude that every input is declared to have.
        """
        program = self.state_program or self.program
        config = self.workspace.get(CkksConfig)
        return program.simulate(inputs, config=config, message_bound=message_bound)

    def cost(
        self, profile: MachineProfile | None = None, inputs: Mapping[str, Any] | None = None
    ) -> ProgramCost:
        """Count what a run costs: transforms, key switches, bytes, and milliseconds.

        No key is needed. Depth, domain and scale of every value are.

        Args:
            profile: Measured times of a machine, as ``fhelium profile`` writes them; without one
                nothing is said of time.
            inputs: The public numbers that decide how often loops run and which branches are
                taken, by name.

        Returns:
            A ProgramCost, which prints as a table.

        Raises:
            CompileError: The Program has no operations on ciphertexts, or a state is not known.
            ContextMismatchError: The profile is of other parameters.
            ExecutionInputError: A public number is missing or of another kind.

        Example:
            >>> from fhelium.compile import CompileWorkspace, capture, encrypted, engine
            >>> config = CkksConfig.create(depth=2, scale_bits=40)
            >>> axes = {"depth": 0, "scale": config.scale_at(0), "polynomial_domain": "ntt"}
            >>> found = capture(lambda engine, x: engine.rotate_by_step(x, 1),
            ...                 inputs={"engine": engine(), "x": encrypted(**axes)},
            ...                 workspace=CompileWorkspace({CkksConfig: config})).cost()
            >>> found.total.key_switches, found.keys.steps, found.ms is None
            (1, (1,), True)
        """
        from fhelium.compile.cost_report import program_cost

        return program_cost(self, profile, inputs or {})

    def __repr__(self) -> str:
        return f"Compilation({self.program!r}, {len(self.material_bindings)} materials bound)"


def require_public(operation: str, symbol: str, value: object) -> None:
    """Refuse what a Program's material cannot stand for, a secret key before all.

    Args:
        operation: Name that an error text begins with.
        symbol: The material.
        value: What it is to be.
    """
    if isinstance(value, SecretKey):
        raise SecretExposureError(
            operation,
            f"{symbol!r} is to be secret key {value.key_id}",
            "A Program computes with public keys and encoded vectors; whoever has it may read them",
            "Pass an evaluation key that was made from it",
            key_id=value.key_id,
        )
    if not isinstance(value, SwitchingKey | Plaintext):
        raise OperandTypeError(
            operation,
            f"{symbol!r} is a {type(value).__name__}",
            "A material is an evaluation key, an encoded vector or a table",
            "Pass a key that an Engine made, or what engine.prepare_plaintext gives",
        )
