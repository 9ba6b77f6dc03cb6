"""Prepared execution: signatures, reusable buffers, ordered copies, CUDA Graphs, observation."""

from fhelium.runtime.buffers import ReusableValueBuffer
from fhelium.runtime.capture_stats import CudaGraphCaptureStats
from fhelium.runtime.copies import CopyHandle
from fhelium.runtime.cuda_graphs import CudaGraphProgram
from fhelium.runtime.signatures import TensorSignature, ValueSignature
from fhelium.runtime.trees import (
    TreeKind,
    ValueTreeSignature,
    pin_value_tree,
    value_tree_nbytes,
)

__all__ = [
    "CopyHandle",
    "CudaGraphCaptureStats",
    "CudaGraphProgram",
    "ReusableValueBuffer",
    "TensorSignature",
    "TreeKind",
    "ValueSignature",
    "ValueTreeSignature",
    "pin_value_tree",
    "value_tree_nbytes",
]
