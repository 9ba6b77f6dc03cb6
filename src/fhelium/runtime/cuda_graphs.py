"""CudaGraphProgram: a captured callable, its fixed inputs and its borrowed output."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, cast, overload

import torch

from fhelium.errors import (
    CudaGraphInputError,
    ExecutionError,
    ExecutionInputError,
    OperandTypeError,
)
from fhelium.runtime.buffers import ReusableValueBuffer
from fhelium.runtime.capture import CudaGraphCaptureStats, captured_parts, name_of
from fhelium.runtime.copies import CopyHandle
from fhelium.runtime.device import events_of, stream_device
from fhelium.runtime.storage import TreeStorage
from fhelium.runtime.trees import ValueTreeSignature, map_tensors
from fhelium.text import size_text
from fhelium.values import TensorResident

_OutputT = TypeVar("_OutputT")


class CudaGraphProgram(Generic[_OutputT]):
    """Replay a captured callable on payloads that are copied into its fixed inputs.

    ``capture`` makes programs; the constructor is not public. What the callable holds (a closure,
    functools.partial, an object) is fixed with the capture; its positional arguments are what each
    replay replaces. The output is borrowed: the next replay overwrites it, unless copy_output asks
    for a copy of its own. In-place forms refuse fixed inputs and borrowed outputs.

    One program has one set of inputs and outputs. Replays follow each other, whatever their streams
    and threads; for work at the same time capture one program each.

    State: an input's structure and exact state are the prototype's. Its bounds may be smaller, not
    larger, so that the bounds captured with the output hold.

    Args:
        function: The callable; it stays usable by itself.
        device: Where it was captured.
        graph: The recorded work.
        input_buffer: The fixed inputs.
        static_inputs: The values that the graph reads.
        output: The tree that the graph writes.
        stats: What the capture cost.

    Example:
        In the examples of this class x and y live on a CUDA device.

        >>> program = CudaGraphProgram.capture(engine.negate, example_inputs=(x,))
        >>> kept = program.replay(y, copy_output=True, synchronize=True)
        >>> torch.equal(kept.data, engine.negate(y).data)
        True
        >>> program.close()
    """

    def __init__(
        self,
        *,
        function: Callable[..., _OutputT],
        device: torch.device,
        graph: torch.cuda.CUDAGraph,
        input_buffer: ReusableValueBuffer[tuple[object, ...]],
        static_inputs: tuple[object, ...],
        output: _OutputT,
        stats: CudaGraphCaptureStats,
    ) -> None:
        streams = stream_device(device)
        assert streams is not None  # capture refuses other devices
        self._streams = streams
        self._function: Callable[..., _OutputT] | None = function
        self._device = device
        self._graph: torch.cuda.CUDAGraph | None = graph
        self._inputs = input_buffer
        self._static_inputs: tuple[object, ...] | None = static_inputs
        self._bounds = [_bounds(leaf) for leaf in self._leaves(static_inputs)]
        self._output = _storage(output)
        self._stats = stats
        self._latest: CopyHandle | None = None
        self._taken = True
        self._replayed: Any = None
        self._lock = threading.RLock()

    @overload
    @classmethod
    def capture(
        cls,
        function: Callable[..., _OutputT],
        *,
        example_inputs: Sequence[object],
        warmup: int = 3,
        check_input_liveness: bool = True,
    ) -> CudaGraphProgram[_OutputT]: ...

    @overload
    @classmethod
    def capture(
        cls,
        function: None = None,
        *,
        example_inputs: Sequence[object],
        warmup: int = 3,
        check_input_liveness: bool = True,
    ) -> Callable[[Callable[..., _OutputT]], CudaGraphProgram[_OutputT]]: ...

    @classmethod
    def capture(
        cls,
        function: Callable[..., Any] | None = None,
        *,
        example_inputs: Sequence[object],
        warmup: int = 3,
        check_input_liveness: bool = True,
    ) -> Any:
        """Warm a callable up, record its work, and replay it once.

        Warm-up runs on a stream and buffers of its own and makes every table that the work reads.
        Keys and encryptions made inside would repeat their noise: they are refused, and so are
        encoding and decryption, which read on the host.

        Cost: warmup + 1 evaluations and the capture.

        Args:
            function: Takes the examples as positional arguments; its Python control flow is fixed
                by this call. Returns tensors and values in lists, tuples and dictionaries, or None.
                Without it, capture returns a decorator.
            example_inputs: Positional prototypes on one CUDA device.
            warmup: How many evaluations precede the capture.
            check_input_liveness: Passed to torch.cuda.graph where that knows it.

        Returns:
            The program, or a decorator that makes one.

        Raises:
            TypeError: function cannot be called, or a leaf of its inputs or output is neither a
                tensor nor a registered value.
            ValueError: warmup is negative, or the examples have no tensor, are not on one CUDA
                device, or share storage.
            CudaGraphCaptureError: A stage failed; ``stage`` is "warmup", "capture", "output" or
                "first_replay", and the cause is chained.

        Example:
            >>> @CudaGraphProgram.capture(example_inputs=(x,), warmup=1)
            ... def doubled(value):
            ...     return engine.add(value, value)
            >>> doubled.stats.warmup_iterations
            1
        """

        def captured(evaluator: Callable[..., _OutputT]) -> CudaGraphProgram[_OutputT]:
            if not isinstance(example_inputs, Sequence):
                raise OperandTypeError(
                    "capture",
                    f"example_inputs is a {type(example_inputs).__name__}",
                    "Each positional argument of the callable has a prototype",
                    "Pass them in a tuple, (x,) for one",
                )
            examples = tuple(example_inputs)
            return cls(**captured_parts(evaluator, examples, warmup, check_input_liveness))

        return captured if function is None else captured(function)

    @property
    def device(self) -> torch.device:
        """Return the device of the capture.

        Example:
            >>> program = CudaGraphProgram.capture(engine.negate, example_inputs=(x,))
            >>> program.device == x.device
            True
        """
        return self._device

    @property
    def input_signature(self) -> ValueTreeSignature:
        """Return what the tuple of positional inputs must be, wherever they live.

        Example:
            >>> program = CudaGraphProgram.capture(engine.add, example_inputs=(x, y))
            >>> len(program.input_signature.children)
            2
        """
        return self._inputs.signature

    @property
    def input_nbytes(self) -> int:
        """Return the bytes of the fixed inputs.

        Example:
            >>> program = CudaGraphProgram.capture(engine.add, example_inputs=(x, y))
            >>> program.input_nbytes == x.nbytes + y.nbytes
            True
        """
        return self._inputs.nbytes

    @property
    def stats(self) -> CudaGraphCaptureStats:
        """Return what the capture cost, and the allocator's state after it.

        Example:
            >>> program = CudaGraphProgram.capture(engine.negate, example_inputs=(x,))
            >>> program.stats.capture_seconds > 0
            True
        """
        return self._stats

    @property
    def output(self) -> _OutputT:
        """Return the borrowed output; the next replay overwrites it.

        Raises:
            ExecutionError: The program is closed.

        Example:
            >>> program = CudaGraphProgram.capture(engine.negate, example_inputs=(x,))
            >>> _ = program.replay(y, synchronize=True)
            >>> torch.equal(program.output.data, engine.negate(y).data)
            True
        """
        with self._lock:
            self._open("output")
            return self._borrowed()

    @property
    def cuda_graph(self) -> torch.cuda.CUDAGraph:
        """Return torch's graph. Its own replay() checks, copies and waits for nothing.

        Raises:
            ExecutionError: The program is closed.

        Example:
            >>> program = CudaGraphProgram.capture(engine.negate, example_inputs=(x,))
            >>> program.cuda_graph.replay()
        """
        with self._lock:
            return self._open("cuda_graph")

    def copy_inputs_from(
        self,
        *inputs: object,
        stream: torch.cuda.Stream | None = None,
        non_blocking: bool = True,
        wait_for: torch.cuda.Event | Sequence[torch.cuda.Event] | None = None,
    ) -> CopyHandle:
        """Copy inputs in without a replay; the copy waits until the last replay has read them.

        Args:
            *inputs: Positional inputs like the prototypes, on any device.
            stream: Where the copy is queued; defaults to the current stream of the device.
            non_blocking: As in Tensor.copy_; overlap with the host needs pinned sources.
            wait_for: Further events that must be over first.

        Returns:
            A handle for replay_prepared.

        Raises:
            CudaGraphInputError: Structure, state or a bound differs, with the path and both sides.
            ValueError: The stream is of another device.
            ExecutionError: The program is closed.

        Example:
            >>> program = CudaGraphProgram.capture(engine.negate, example_inputs=(x,))
            >>> program.copy_inputs_from(y).bytes_copied == y.nbytes
            True
        """
        with self._lock:
            self._open("copy_inputs_from")
            self._require_inputs("copy_inputs_from", inputs)
            events = events_of(wait_for)
            if self._replayed is not None:
                events = (*events, self._replayed)
            handle = self._inputs.copy_from(
                inputs, stream=stream, non_blocking=non_blocking, wait_for=events
            )
            self._latest, self._taken = handle, False
            return handle

    def replay_prepared(
        self,
        *,
        copy_handle: CopyHandle | None = None,
        copy_output: bool = False,
        synchronize: bool = False,
    ) -> _OutputT:
        """Replay on the payload that the fixed inputs hold.

        Args:
            copy_handle: Of the last copy_inputs_from: the current stream waits for it, the CPU does
                not. Leave it out only to replay the same payload again.
            copy_output: Return a copy that later replays leave alone.
            synchronize: Block until the device is done.

        Raises:
            CudaGraphInputError: The handle is another program's or not the latest, or a copy that
                no replay has used yet is there and its handle is not given.
            ExecutionError: The program is closed.

        Example:
            >>> program = CudaGraphProgram.capture(engine.negate, example_inputs=(x,))
            >>> copied = program.copy_inputs_from(y)
            >>> result = program.replay_prepared(copy_handle=copied, synchronize=True)
            >>> torch.equal(result.data, engine.negate(y).data)
            True
        """
        with self._lock:
            graph = self._open("replay_prepared")
            self._require_latest(copy_handle)
            _ = self._inputs.value  # refuses a payload that was copied half way
            stream = self._streams.current_stream(self._device)
            if copy_handle is not None:
                copy_handle.wait_on(stream)
            if self._replayed is not None:
                stream.wait_event(self._replayed)
            replayed = self._streams.event()
            try:
                with self._streams.on(stream):
                    graph.replay()
                    output: Any = self._borrowed()
                    if copy_output and output is not None:
                        output = map_tensors(output, torch.Tensor.clone)
            finally:
                replayed.record(stream)
                self._replayed = replayed
            self._taken = True
            if synchronize:
                self._streams.synchronize(self._device)
            return cast(_OutputT, output)

    def replay(
        self, *inputs: object, copy_output: bool = False, synchronize: bool = False
    ) -> _OutputT:
        """Copy inputs in and replay, both on the current stream.

        Args:
            *inputs: Positional inputs like the prototypes, on any device.
            copy_output: Return a copy that later replays leave alone.
            synchronize: Block until the device is done.

        Raises:
            CudaGraphInputError: Structure, state or a bound differs, with the path and both sides.
            ExecutionError: The program is closed.

        Example:
            >>> program = CudaGraphProgram.capture(engine.negate, example_inputs=(x,))
            >>> kept = program.replay(y, copy_output=True)
            >>> borrowed = program.replay(x, synchronize=True)
            >>> torch.equal(kept.data, engine.negate(y).data)
            True
        """
        with self._lock:
            self._open("replay")
            handle = self.copy_inputs_from(*inputs)
            return self.replay_prepared(
                copy_handle=handle, copy_output=copy_output, synchronize=synchronize
            )

    def close(self) -> None:
        """Wait for the device and let go of graph, inputs and output; closing twice is fine.

        Example:
            >>> program = CudaGraphProgram.capture(engine.negate, example_inputs=(x,))
            >>> program.close()
            >>> program.close()
        """
        with self._lock:
            graph, self._graph = self._graph, None
            if graph is None:
                return
            try:
                self._streams.synchronize(self._device)
                self._inputs.close()
            finally:
                graph.reset()
                self._function = self._static_inputs = self._output = None
                self._latest = self._replayed = None

    def __repr__(self) -> str:
        name = "closed" if self._function is None else name_of(self._function)
        return f"CudaGraphProgram({name}, {self._device}, inputs {size_text(self.input_nbytes)})"

    def _open(self, operation: str) -> torch.cuda.CUDAGraph:
        if self._graph is None:
            raise ExecutionError(
                operation, "the program is closed", "A closed program has no graph", "Capture anew"
            )
        return self._graph

    def _leaves(self, inputs: tuple[object, ...]) -> list[Any]:
        return list(self._inputs.signature.leaves(inputs))

    def _borrowed(self) -> _OutputT:
        return cast(_OutputT, None if self._output is None else self._output.value())

    def _require_inputs(self, operation: str, inputs: tuple[object, ...]) -> None:
        """Refuse inputs of another structure or state, or beyond the bounds of the prototype."""
        try:
            self._inputs.signature.validate(inputs, path="inputs")
        except ExecutionInputError as error:
            raise CudaGraphInputError(operation, error.fact, error.rule, error.remedy) from None
        for place, (leaf, bounds) in enumerate(
            zip(self._leaves(inputs), self._bounds, strict=True)
        ):
            for name, most in bounds.items():
                found = getattr(leaf.state, name)
                if most is not None and (found is None or found > most):
                    raise CudaGraphInputError(
                        operation,
                        f"{name} of leaf {place} is {found}, the prototype's is {most}",
                        "The bounds of the output were captured with the prototype's",
                        "Capture with a prototype of the largest bounds, or declare smaller ones "
                        "with engine.assume_message_bound",
                    )

    def _require_latest(self, handle: CopyHandle | None) -> None:
        if handle is None and self._taken:
            return
        if handle is not None and handle is self._latest:
            return
        if handle is None:
            fact = "no handle is given and a copy is there that no replay has used"
        elif self._inputs.owns(handle):
            fact = "the handle is not of the latest copy"
        else:
            fact = "the handle is of a copy into another buffer"
        raise CudaGraphInputError(
            "replay_prepared",
            fact,
            "A replay reads the latest payload, and waits for its copy",
            "Pass what the last copy_inputs_from of this program returned",
        )


def _bounds(leaf: Any) -> dict[str, float | None]:
    if not isinstance(leaf, TensorResident):
        return {}
    return {name: getattr(leaf.state, name) for name in ("message_bound", "noise_bound")}


def _storage(output: Any) -> TreeStorage | None:
    """Return the tensors of an output, around which each call builds a tree."""
    if output is None:
        return None
    signature = ValueTreeSignature.from_value(output)
    return TreeStorage.around(signature, output)
