"""Prepared execution: signatures, reusable buffers, ordered copies, CUDA Graphs, observation."""

from fhelium.runtime.buffers import ReusableValueBuffer
from fhelium.runtime.capture import CudaGraphCaptureStats
from fhelium.runtime.copies import CopyHandle
from fhelium.runtime.cuda_graphs import CudaGraphProgram
from fhelium.runtime.observation import (
    CpuInfo,
    DeviceInfo,
    MemorySnapshot,
    cpu_info,
    device_info,
    devices,
    memory_snapshot,
)
from fhelium.runtime.signatures import TensorSignature, ValueSignature
from fhelium.runtime.trees import (
    TreeKind,
    ValueTreeSignature,
    pin_value_tree,
    value_tree_nbytes,
)

__all__ = [
    "CopyHandle",
    "CpuInfo",
    "CudaGraphCaptureStats",
    "CudaGraphProgram",
    "DeviceInfo",
    "MemorySnapshot",
    "ReusableValueBuffer",
    "TensorSignature",
    "TreeKind",
    "ValueSignature",
    "ValueTreeSignature",
    "cpu_info",
    "device_info",
    "devices",
    "memory_snapshot",
    "pin_value_tree",
    "value_tree_nbytes",
]
