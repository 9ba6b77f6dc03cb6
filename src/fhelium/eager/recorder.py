"""Recording: run a computation for its states alone and note the keys it asks for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from fhelium.config import CkksConfig
from fhelium.ir.methods.key_record import KeyRecord
from fhelium.values import Ciphertext, CkksState


class Recording(threading.local):
    """Say whether this thread records, and into what."""

    record: KeyRecord | None = None

    @contextmanager
    def start(self, config: CkksConfig) -> Iterator[KeyRecord]:
        """Record until the block ends; an inner block records for itself alone."""
        outer, self.record = self.record, KeyRecord(config)
        try:
            yield self.record
        finally:
            self.record = outer


def unread_results(values: list[Any], state: CkksState, count: int) -> list[Ciphertext]:
    """Return ciphertexts of the result's state and shape on the meta device."""
    batch = torch.broadcast_shapes(*(v.batch_shape for v in values if hasattr(v, "batch_shape")))
    assert state.components is not None
    assert state.limb_count is not None
    shape = (state.components, *batch, state.limb_count, state.config.N)
    dtype = values[0].data.dtype
    return [Ciphertext(torch.empty(shape, dtype=dtype, device="meta"), state) for _ in range(count)]
