"""Compile: capture a function, transform it pass by pass, and run it or write it as Python."""

from fhelium.compile.capture import capture
from fhelium.compile.captured_functions import assume_message_bound, polynomial
from fhelium.compile.compilation import Compilation, PassReport
from fhelium.compile.compiled_function import CompiledFunction, Specialization, compile
from fhelium.compile.cost_report import OperationCost, ProgramCost
from fhelium.compile.default_pipeline import default_lower_and_fuse_pipeline
from fhelium.compile.executable import ProgramExecutable
from fhelium.compile.linking import ProgramDispatchTable
from fhelium.compile.machine_profile import MachineProfile, measure_profile
from fhelium.compile.materials import EvaluationKeyRequirements, prepare_material_bindings
from fhelium.compile.passes.align_operands import AlignOperandsPass
from fhelium.compile.passes.assign_ckks_depths import AssignCkksDepthsPass
from fhelium.compile.passes.assign_ckks_scales import AssignCkksScalesPass
from fhelium.compile.passes.assign_ntt_implementation import AssignNttImplementationPass
from fhelium.compile.passes.balance_products import BalanceProductsPass
from fhelium.compile.passes.collect_sums import CollectSumsPass
from fhelium.compile.passes.eliminate_dead_values import EliminateDeadValuesPass
from fhelium.compile.passes.emit_backend_python import EmitBackendPythonPass
from fhelium.compile.passes.emit_eager_python import EmitEagerPythonPass
from fhelium.compile.passes.expand_matrix_products import ExpandMatrixProductsPass
from fhelium.compile.passes.expand_polynomials import ExpandPolynomialsPass
from fhelium.compile.passes.fuse_operations import FuseOperationsPass
from fhelium.compile.passes.fuse_regions import FuseRegionsPass
from fhelium.compile.passes.hoist_rotations import HoistRotationsPass
from fhelium.compile.passes.lower_ckks_to_rns_ntt import LowerCkksToRnsNttPass
from fhelium.compile.passes.lower_logical_to_ckks import LowerLogicalToCkksPass
from fhelium.compile.passes.lower_semantic_to_logical import LowerSemanticToLogicalPass
from fhelium.compile.passes.open_states import OpenStatesPass
from fhelium.compile.passes.place_ntt_transitions import PlaceNttTransitionsPass
from fhelium.compile.passes.place_relinearizations import PlaceRelinearizationsPass
from fhelium.compile.passes.place_rescales import PlaceRescalesPass
from fhelium.compile.passes.prepare_operation_operands import PrepareOperationOperandsPass
from fhelium.compile.passes.prepare_plaintexts import PreparePlaintextsPass
from fhelium.compile.passes.resolve_rotation_key_operands import ResolveRotationKeyOperandsPass
from fhelium.compile.passes.reuse_values import ReuseValuesPass
from fhelium.compile.passes.schedule_operations import MemorySchedule, ScheduleOperationsPass
from fhelium.compile.passes.select_ntt_implementations import SelectNttImplementationsPass
from fhelium.compile.passes.unroll_control_flow import UnrollControlFlowPass
from fhelium.compile.passes.validate_for_linking import ValidateForLinkingPass
from fhelium.compile.pipeline import CompilePass, Pipeline
from fhelium.compile.python_source import (
    BackendPythonSource,
    EagerPythonSource,
    GeneratedPythonSource,
)
from fhelium.compile.specs import (
    condition,
    count,
    encrypted,
    engine,
    message,
    plaintext,
    static,
)
from fhelium.compile.structured import repeat
from fhelium.compile.workspace import CompileWorkspace
from fhelium.errors import PythonCodegenError
from fhelium.ir.program import Program

__all__ = [
    "AlignOperandsPass",
    "AssignCkksDepthsPass",
    "AssignCkksScalesPass",
    "AssignNttImplementationPass",
    "BackendPythonSource",
    "BalanceProductsPass",
    "CollectSumsPass",
    "Compilation",
    "CompilePass",
    "CompileWorkspace",
    "CompiledFunction",
    "EagerPythonSource",
    "EliminateDeadValuesPass",
    "EmitBackendPythonPass",
    "EmitEagerPythonPass",
    "EvaluationKeyRequirements",
    "ExpandMatrixProductsPass",
    "ExpandPolynomialsPass",
    "FuseOperationsPass",
    "FuseRegionsPass",
    "GeneratedPythonSource",
    "HoistRotationsPass",
    "LowerCkksToRnsNttPass",
    "LowerLogicalToCkksPass",
    "LowerSemanticToLogicalPass",
    "MachineProfile",
    "MemorySchedule",
    "OpenStatesPass",
    "OperationCost",
    "PassReport",
    "Pipeline",
    "PlaceNttTransitionsPass",
    "PlaceRelinearizationsPass",
    "PlaceRescalesPass",
    "PrepareOperationOperandsPass",
    "PreparePlaintextsPass",
    "Program",
    "ProgramCost",
    "ProgramDispatchTable",
    "ProgramExecutable",
    "PythonCodegenError",
    "ResolveRotationKeyOperandsPass",
    "ReuseValuesPass",
    "ScheduleOperationsPass",
    "SelectNttImplementationsPass",
    "Specialization",
    "UnrollControlFlowPass",
    "ValidateForLinkingPass",
    "assume_message_bound",
    "capture",
    "compile",
    "condition",
    "count",
    "default_lower_and_fuse_pipeline",
    "encrypted",
    "engine",
    "measure_profile",
    "message",
    "plaintext",
    "polynomial",
    "prepare_material_bindings",
    "repeat",
    "static",
]
