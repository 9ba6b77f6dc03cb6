"""The recipe that a compiled function takes unless it is given another."""

from __future__ import annotations

from fhelium.compile.passes.align_operands import AlignOperandsPass
from fhelium.compile.passes.assign_ckks_depths import AssignCkksDepthsPass
from fhelium.compile.passes.assign_ckks_scales import AssignCkksScalesPass
from fhelium.compile.passes.balance_products import BalanceProductsPass
from fhelium.compile.passes.collect_sums import CollectSumsPass
from fhelium.compile.passes.eliminate_dead_values import EliminateDeadValuesPass
from fhelium.compile.passes.expand_matrix_products import ExpandMatrixProductsPass
from fhelium.compile.passes.expand_polynomials import ExpandPolynomialsPass
from fhelium.compile.passes.fuse_operations import FuseOperationsPass
from fhelium.compile.passes.hoist_rotations import HoistRotationsPass
from fhelium.compile.passes.lower_logical_to_ckks import LowerLogicalToCkksPass
from fhelium.compile.passes.lower_semantic_to_logical import LowerSemanticToLogicalPass
from fhelium.compile.passes.open_states import OpenStatesPass
from fhelium.compile.passes.place_ntt_transitions import PlaceNttTransitionsPass
from fhelium.compile.passes.place_relinearizations import PlaceRelinearizationsPass
from fhelium.compile.passes.place_rescales import PlaceRescalesPass
from fhelium.compile.passes.prepare_plaintexts import PreparePlaintextsPass
from fhelium.compile.passes.resolve_rotation_key_operands import ResolveRotationKeyOperandsPass
from fhelium.compile.passes.reuse_values import ReuseValuesPass
from fhelium.compile.passes.schedule_operations import ScheduleOperationsPass
from fhelium.compile.passes.unroll_control_flow import UnrollControlFlowPass
from fhelium.compile.pipeline import Pipeline


def default_lower_and_fuse_pipeline(*, entry_depth: int = 0) -> Pipeline:
    """Return the passes from a captured function to operations that are ready to link.

    Products are relinearized and rescaled late, depths and scales are aligned exactly, constants
    are encoded once. The passes are an ordinary tuple: take some out, add others.

    Args:
        entry_depth: Depth of the inputs whose type names none.

    Example:
        >>> type(default_lower_and_fuse_pipeline().passes[0]).__name__
        'UnrollControlFlowPass'
    """
    return Pipeline(
        (
            UnrollControlFlowPass(),
            EliminateDeadValuesPass(),
            ExpandMatrixProductsPass(),
            ExpandPolynomialsPass(),
            ReuseValuesPass(),
            BalanceProductsPass(),
            EliminateDeadValuesPass(),
            ReuseValuesPass(),
            LowerSemanticToLogicalPass(),
            OpenStatesPass(),
            LowerLogicalToCkksPass(),
            AssignCkksDepthsPass(entry_depth),
            AssignCkksScalesPass(),
            PlaceNttTransitionsPass(),
            PlaceRescalesPass(),
            PlaceRelinearizationsPass(),
            AlignOperandsPass(),
            ResolveRotationKeyOperandsPass(),
            EliminateDeadValuesPass(),
            PreparePlaintextsPass(),
            ReuseValuesPass(),
            CollectSumsPass(),
            HoistRotationsPass(),
            FuseOperationsPass(),
            EliminateDeadValuesPass(),
            ScheduleOperationsPass(),
        )
    )
