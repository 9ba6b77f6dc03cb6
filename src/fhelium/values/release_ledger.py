"""How many results of each circuit were released with one secret key object."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from fhelium.errors import ReleaseError

# Past this many, answers are no longer remembered and a repeated one counts again.
_REMEMBERED_ANSWERS: Final = 1 << 16


@dataclass
class _Account:
    queries: int
    statistical_bits: float
    count: int = 0
    seen: set[bytes] = field(default_factory=set)


class ReleaseLedger:
    """Count releases by circuit; every copy of one secret key object shares it.

    Example:
        >>> ledger = ReleaseLedger()
        >>> ledger.spend("release", "mean", [b"a", b"b"], queries=2, statistical_bits=30.0)
        0
        >>> ledger.spend("release", "mean", [b"a"], queries=2, statistical_bits=30.0)
        0
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._accounts: dict[str, _Account] = {}

    def spend(
        self,
        operation: str,
        circuit: str,
        digests: Sequence[bytes],
        *,
        queries: int,
        statistical_bits: float,
    ) -> int:
        """Count some results, all or none of them; the first call fixes the circuit's terms.

        Args:
            operation: Name that an error text begins with.
            circuit: Name of the computation.
            digests: What names each result; one that was counted is not counted again.
            queries: How many different ones there may be.
            statistical_bits: The other term that a circuit keeps.

        Returns:
            How many are left.

        Raises:
            ReleaseError: Too few are left, or the terms differ from the first ones.
        """
        with self._lock:
            account = self._accounts.get(circuit) or _Account(queries, statistical_bits)
            terms = (account.queries, account.statistical_bits)
            if terms != (queries, statistical_bits):
                raise ReleaseError(
                    operation,
                    f"circuit {circuit!r} was first released with queries={terms[0]} and "
                    f"statistical_bits={terms[1]:g}, now with queries={queries} and "
                    f"statistical_bits={statistical_bits:g}",
                    "A circuit keeps the terms that were fixed before its first release",
                    "Pass the first terms",
                )
            fresh = set(digests) - account.seen
            if account.count + len(fresh) > account.queries:
                raise ReleaseError(
                    operation,
                    f"{account.count} of {account.queries} results of circuit {circuit!r} are "
                    f"released, asked for are {len(fresh)} more",
                    "The noise hides so many results and not more",
                    "Stop here; plan more queries before the first release next time",
                    released=account.count,
                    queries=account.queries,
                )
            # Counted before it is remembered: an interrupt in between counts too much, never less.
            self._accounts[circuit] = account
            account.count += len(fresh)
            if len(account.seen) + len(fresh) <= _REMEMBERED_ANSWERS:
                account.seen |= fresh
            return account.queries - account.count
