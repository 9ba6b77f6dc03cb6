"""The four stages of a capture: warm-up, capture, output, first replay; and what they cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch

from fhelium.errors import CudaGraphCaptureError, OperandTypeError, StateError
from fhelium.rng import no_randomness
from fhelium.runtime.buffers import ReusableValueBuffer
from fhelium.runtime.device import StreamDevice, stream_device
from fhelium.runtime.storage import pointer_of, require_separate
from fhelium.runtime.trees import ValueTreeSignature, map_tensors, tree_tensors
from fhelium.values import Ciphertext

Stage = Literal["warmup", "capture", "output", "first_replay"]


@dataclass(frozen=True, slots=True)
class CudaGraphCaptureStats:
    """Hold the one-time costs of a capture, and the allocator's state after it.

    Args:
        warmup_iterations: Evaluations before the capture.
        warmup_seconds: Host time of all of them.
        capture_seconds: Host time of the capture.
        first_replay_seconds: Host time of the first replay, the device waited for.
        memory_allocated_bytes: Bytes that torch's allocator had given out, in the whole process.
        memory_reserved_bytes: Bytes that it had reserved.

    Example:
        >>> CudaGraphCaptureStats(3, 0.5, 0.25, 0.125, 1024, 2048).warmup_iterations
        3
    """

    warmup_iterations: int
    warmup_seconds: float
    capture_seconds: float
    first_replay_seconds: float
    memory_allocated_bytes: int
    memory_reserved_bytes: int


def captured_parts(
    function: Callable[..., Any],
    examples: tuple[object, ...],
    warmup: int,
    check_input_liveness: bool,
) -> dict[str, Any]:
    """Return the arguments of a CudaGraphProgram for one callable."""
    _require_callable(function, warmup)
    signature, device, streams = _checked(examples)
    started = time.perf_counter()
    with _stage("warmup", function), no_randomness():
        _warm_up(function, examples, warmup, device, streams)
    warm = time.perf_counter()
    buffer = ReusableValueBuffer.like(examples, device=device)
    graph = streams.graph()
    try:
        inputs = _seedless(signature, buffer.value)
        with _stage("capture", function), no_randomness():
            streams.synchronize(device)
            side = streams.new_stream(device)
            with streams.capture(graph, side, check_input_liveness=check_input_liveness):
                output = _separated(function(*inputs), tree_tensors(signature, inputs))
        captured = time.perf_counter()
        with _stage("output", function):
            _require_on(device, output)
        with _stage("first_replay", function):
            graph.replay()
            streams.synchronize(device)
    except BaseException:
        buffer.close()
        graph.reset()
        raise
    replayed = time.perf_counter()
    times = (warm - started, captured - warm, replayed - captured)
    return {
        "function": function,
        "device": device,
        "graph": graph,
        "input_buffer": buffer,
        "static_inputs": inputs,
        "output": output,
        "stats": CudaGraphCaptureStats(warmup, *times, *streams.memory(device)),
    }


def _require_callable(function: object, warmup: object) -> None:
    if not callable(function) or type(warmup) is not int:
        raise OperandTypeError(
            "capture",
            f"function is a {type(function).__name__} and warmup a {type(warmup).__name__}",
            "A capture records a callable after a whole number of warm-up calls",
            "Pass a callable and an int",
        )
    if warmup < 0:
        raise StateError(
            "capture", f"warmup is {warmup}", "It counts calls", "Pass 0 or more", warmup=warmup
        )


def _checked(
    examples: tuple[object, ...],
) -> tuple[ValueTreeSignature, torch.device, StreamDevice]:
    """Return signature and device of the examples, or refuse what no graph can read."""
    signature = ValueTreeSignature.from_value(examples)
    tensors = tree_tensors(signature, examples)
    devices = {tensor.device for tensor in tensors}
    streams = stream_device(next(iter(devices))) if len(devices) == 1 else None
    if streams is None:
        places = " and ".join(sorted(map(str, devices))) or "no device"
        raise StateError(
            "capture",
            f"example_inputs has {len(tensors)} tensors, on {places}",
            "A graph reads tensors of one CUDA device",
            "Move the examples there with .cuda()",
        )
    require_separate("capture", tensors)
    return signature, devices.pop(), streams


def _warm_up(
    function: Callable[..., Any],
    examples: tuple[object, ...],
    warmup: int,
    device: torch.device,
    streams: StreamDevice,
) -> None:
    """Call the function on buffers and a stream of its own, so that tables exist before capture."""
    side = streams.new_stream(device)
    ready = streams.event()
    ready.record(streams.current_stream(device))
    side.wait_event(ready)
    with streams.on(side):
        for _ in range(warmup):
            buffer = ReusableValueBuffer.like(examples, device=device)
            function(*buffer.value)
            buffer.close()
    streams.synchronize(device)


def _seedless(signature: ValueTreeSignature, inputs: Any) -> Any:
    """Return inputs without the seeds of one payload: a later payload has others, or none."""
    return signature.build(
        leaf._related(Ciphertext(leaf.data, leaf.state))
        if isinstance(leaf, Ciphertext) and leaf.public_seed is not None
        else leaf
        for leaf in signature.leaves(inputs)
    )


def _separated(output: Any, inputs: tuple[torch.Tensor, ...]) -> Any:
    """Copy what the output shares with the inputs: the next copy of inputs would overwrite it."""
    if output is None:
        return None
    own = {pointer_of(tensor) for tensor in inputs}
    return map_tensors(output, lambda t: t.clone() if pointer_of(t) in own else t)


def _require_on(device: torch.device, output: Any) -> None:
    if output is None:
        return
    signature = ValueTreeSignature.from_value(output)
    for place, tensor in enumerate(tree_tensors(signature, output)):
        if tensor.device != device:
            raise StateError(
                "output",
                f"tensor {place} is on {tensor.device}, the graph on {device}",
                "A replay writes tensors of its own device",
                "Return results that stay on the device",
            )


def name_of(function: Callable[..., Any]) -> str:
    """Return what a callable is called, or its class."""
    return getattr(function, "__qualname__", type(function).__name__)


@contextmanager
def _stage(stage: Stage, function: Callable[..., Any]) -> Iterator[None]:
    """Tell of a failure with its stage; an unsupported leaf of the output keeps its own error."""
    name = name_of(function)
    try:
        yield
    except OperandTypeError as error:
        if error.operation.endswith("Signature.from_value"):
            raise
        raise _failed(stage, name, error) from error
    except Exception as error:
        raise _failed(stage, name, error) from error


def _failed(stage: Stage, name: str, error: Exception) -> CudaGraphCaptureError:
    detail = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
    return CudaGraphCaptureError(
        "capture",
        f"stage {stage} of {name} failed ({detail})",
        "A captured callable does the same device work each time, without waiting for the host",
        "Correct what the cause says, and keep keys, encryption, decryption and files outside",
        stage=stage,
        function_name=name,
        detail=detail,
    )
