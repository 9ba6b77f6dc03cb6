"""The key that opens values."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final, NoReturn, Self

import torch

from fhelium.config import CkksConfig
from fhelium.errors import DecryptionWarning, OperandTypeError, SecretExposureError, warn
from fhelium.values.keys import Key
from fhelium.values.registry import register_value
from fhelium.values.release_ledger import ReleaseLedger
from fhelium.values.state import CkksState

QUERY_WARNING: Final = 128
# Past this many the count goes on without remembering which ones were seen: memory stays flat.
_REMEMBERED_QUERIES: Final = 1 << 16


@register_value("SecretKey", 1, ("data",))
class SecretKey(Key):
    """Carry the secret polynomial s, and count what was decrypted with it.

    The object refuses pickling and copying, so it cannot leave its process by accident; its repr
    shows only its id. `to` and `clone` give the same key elsewhere, with the same query count.

    Shapes: data [L + K, N], NTT domain, Montgomery residues over QP.

    Args:
        data: Residues of s.
        state: As `key_state(config, key_id=..., components=1)` makes it; its key_id names the key.

    Raises:
        StateError: Payload and state disagree; the text names both.
        TypeError: data is not a tensor or state is not a CkksState.
        SecretExposureError: From pickle, copy and deepcopy. Decrypt where the key is, and send
            ciphertexts and evaluation keys.

    Example:
        >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
        >>> from fhelium.values import key_state
        >>> state = key_state(config, key_id="5f0c", components=1)
        >>> data = torch.zeros(len(config.primes), config.N, dtype=torch.int64)
        >>> SecretKey(data, state)
        SecretKey(key 5f0c, N 1024, cpu, insecure)
    """

    __slots__ = ("_queries", "_releases")

    _key_components = 1

    def __init__(self, data: torch.Tensor, state: CkksState) -> None:
        super().__init__(data, state)
        self._queries = _QueryCounter()
        self._releases = ReleaseLedger()

    def count_query(self, digest: bytes) -> int:
        """Count one decryption, and warn once when there were many different ones.

        Each exact decryption that is given away says a little about the key. This guards against
        accidents; it is no claim of security under known decryptions.

        Args:
            digest: Digest of what was decrypted; the same digest counts once.

        Returns:
            Distinct queries so far, over all copies of this key object in this process.

        Raises:
            TypeError: digest is not bytes, or is empty.

        Example:
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> data = torch.zeros(len(config.primes), config.N, dtype=torch.int64)
            >>> from fhelium.values import key_state
            >>> key = SecretKey(data, key_state(config, key_id="5f0c", components=1))
            >>> key.count_query(b"first"), key.count_query(b"second"), key.count_query(b"first")
            (1, 2, 2)
        """
        if not isinstance(digest, bytes) or not digest:
            raise OperandTypeError(
                "count_query",
                f"digest is {'empty' if digest == b'' else f'a {type(digest).__name__}'}",
                "A query is named by a digest of what was decrypted",
                "Pass non-empty bytes",
            )
        count, many = self._queries.count(digest)
        if many:
            warn(
                DecryptionWarning,
                "decrypt",
                f"{count} distinct values were decrypted with secret key {self.key_id}",
                "Decryptions that are given away can reveal the key",
                "Publish results with engine.decrypt_for_release, or make a new key",
            )
        return count

    def spend_releases(
        self, circuit: str, digests: Sequence[bytes], *, queries: int, statistical_bits: float
    ) -> int:
        """Count results of a circuit that are about to be released, all of them or none.

        Args:
            circuit: Name of the computation.
            digests: What names each result; one that was counted is not counted again.
            queries: How many different results of it may be released.
            statistical_bits: The other term that was fixed with the first release.

        Returns:
            How many may still be released, over all copies of this key object in this process.

        Raises:
            ReleaseError: Too few are left, or the terms differ from the first ones.

        Example:
            >>> config = CkksConfig.create(depth=3, scale_bits=30, N=1024, allow_insecure=True)
            >>> data = torch.zeros(len(config.primes), config.N, dtype=torch.int64)
            >>> from fhelium.values import key_state
            >>> key = SecretKey(data, key_state(config, key_id="5f0c", components=1))
            >>> key.spend_releases("mean", [b"first"], queries=5, statistical_bits=30.0)
            4
        """
        return self._releases.spend(
            "decrypt_for_release",
            circuit,
            digests,
            queries=queries,
            statistical_bits=statistical_bits,
        )

    def _payload_shape(self, config: CkksConfig) -> tuple[int, ...]:
        return (len(config.primes), config.N)

    def _with_tensors(self, tensors: Any, state: CkksState | None = None) -> Self:
        copied = super()._with_tensors(tensors, state)
        copied._queries = self._queries
        copied._releases = self._releases
        return copied

    def _refuse_exposure(self, operation: str) -> NoReturn:
        raise SecretExposureError(
            operation,
            f"operand is secret key {self.key_id}",
            "A secret key is never pickled or copied, so it cannot leave its process by accident",
            "Decrypt where the key is and send ciphertexts, public and evaluation keys instead; "
            "use .to(device) to move it",
            key_id=self.key_id,
        )

    def __reduce__(self) -> NoReturn:
        self._refuse_exposure("pickle")

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        self._refuse_exposure("pickle")

    def __getstate__(self) -> NoReturn:
        self._refuse_exposure("pickle")

    def __copy__(self) -> NoReturn:
        self._refuse_exposure("copy")

    def __deepcopy__(self, memo: Any) -> NoReturn:
        self._refuse_exposure("deepcopy")

    def _repr_parts(self) -> list[str]:
        mark = ["insecure"] if self.insecure else []
        return [f"key {self.key_id}", f"N {self.config.N}", str(self.device), *mark]


class _QueryCounter:
    """Count distinct decryption queries; shared by every copy of one secret key object."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: set[bytes] = set()
        self._count = 0

    def count(self, digest: bytes) -> tuple[int, bool]:
        """Return the distinct queries so far, and whether this one is the time to warn."""
        with self._lock:
            if digest in self._seen:
                return self._count, False
            if len(self._seen) < _REMEMBERED_QUERIES:
                self._seen.add(digest)
            self._count += 1
            return self._count, self._count == QUERY_WARNING
