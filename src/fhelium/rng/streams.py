"""Named streams: roots of fresh entropy, sub-keys of them, and the fenced test mode."""

from __future__ import annotations

import enum
import hashlib
import os
import threading
from typing import NoReturn

import torch

from fhelium.errors import InsecureWarning, ParameterError, RandomnessError, warn
from fhelium.rng import entropy

STREAM_VERSION = "1"
"""Names how streams are made; stored beside every public seed, so that old seeds expand alike."""

_PERSON = f"FHElium-rng-{STREAM_VERSION}".encode()  # BLAKE2b takes up to 16 bytes
_REQUIRE_SECURE = "FHELIUM_REQUIRE_SECURE_RNG"


class Domain(enum.Enum):
    """The closed set of purposes that randomness has. Two domains never share a stream.

    Example:
        >>> Domain.SECRET_KEY.value
        'secret-key'
    """

    SECRET_KEY = "secret-key"
    PUBLIC_SEED = "public-seed"
    KEY_ERROR = "key-error"
    ENCRYPTION_MASK = "encryption-mask"
    ENCRYPTION_ERROR = "encryption-error"
    DECRYPTION_NOISE = "decryption-noise"
    RELEASE_NOISE = "release-noise"
    KEY_ID = "key-id"
    TEST_ROOT = "test-root"


def derive(root: bytes, domain: Domain, *labels: int | bytes | str) -> bytes:
    """Derive a 32-byte sub-key: BLAKE2b keyed with the root over the domain and the labels.

    The labels are encoded with their types and lengths, so no two different argument lists give the
    same input. Knowing sub-keys says nothing about the root or about other sub-keys.

    Cost: one hash.

    Args:
        root: 32 bytes, from ``RandomSource.root`` or from ``derive``.
        domain: What the sub-key is for.
        *labels: What tells this sub-key from others of the domain: a digit, a component, a name.

    Returns:
        32 bytes, the key of one ChaCha20 stream or the root of further ones.

    Raises:
        ParameterError: The root is not 32 bytes, the domain is no Domain or a label has another
            type. The text says which.

    Example:
        >>> root = bytes(32)
        >>> derive(root, Domain.KEY_ERROR, 0) != derive(root, Domain.KEY_ERROR, 1)
        True

    Source: J.-P. Aumasson, S. Neves, Z. Wilcox-O'Hearn, C. Winnerlein, "BLAKE2: simpler, smaller,
    fast as MD5", 2013.
    """
    if not isinstance(root, bytes) or len(root) != entropy.ROOT_BYTES:
        size = f"{len(root)} bytes" if isinstance(root, bytes) else f"of type {type(root).__name__}"
        raise ParameterError(
            "derive",
            f"the root is {size}",
            f"A root is {entropy.ROOT_BYTES} bytes",
            "Take it from RandomSource.root or from derive",
        )
    if not isinstance(domain, Domain):
        raise ParameterError(
            "derive",
            f"the domain has type {type(domain).__name__}",
            "The set of domains is closed",
            "Pass a member of fhelium.rng.Domain",
        )
    digest = hashlib.blake2b(key=root, digest_size=entropy.ROOT_BYTES, person=_PERSON)
    for label in (domain.value, *labels):
        digest.update(_encode(label))
    return digest.digest()


def key_tensor(key: bytes) -> torch.Tensor:
    """Make the uint8 [32] CPU tensor that the native samplers take as their key.

    Example:
        >>> key_tensor(bytes(32)).shape
        torch.Size([32])
    """
    if len(key) != entropy.ROOT_BYTES:
        raise ParameterError(
            "key_tensor",
            f"the key has {len(key)} bytes",
            f"A stream key has {entropy.ROOT_BYTES}",
            "Pass the bytes of derive",
        )
    return torch.frombuffer(bytearray(key), dtype=torch.uint8)


class RandomSource:
    """Where an engine's randomness comes from: the operating system, or a seed in tests.

    Without a seed the source has no state at all: every root is fresh, so there is nothing to copy,
    restore or race. With a seed every root is BLAKE2b of the seed, the process's rank (environment
    variable RANK, else 0), the domain and a call counter under a lock; two sources with one seed
    repeat each other, which is what tests want and nothing else may have.

    Args:
        rng_seed: None, or an integer for reproducible tests.

    Raises:
        RandomnessError: A seed was given under FHELIUM_REQUIRE_SECURE_RNG=1. Drop the seed.
        ParameterError: The seed is no integer.

    Example:
        >>> source = RandomSource()
        >>> source.root(Domain.SECRET_KEY, "example") != source.root(Domain.SECRET_KEY, "example")
        True
    """

    __slots__ = ("_counter", "_lock", "_process", "_seed_key")

    def __init__(self, rng_seed: int | None = None) -> None:
        self._seed_key: bytes | None = None
        self._lock = threading.Lock()
        self._counter = 0
        self._process = os.getpid()
        if rng_seed is None:
            return
        if not isinstance(rng_seed, int) or isinstance(rng_seed, bool):
            raise ParameterError(
                "RandomSource",
                f"rng_seed has type {type(rng_seed).__name__}",
                "A seed is an integer",
                "Pass an int, or None for real randomness",
            )
        if os.environ.get(_REQUIRE_SECURE, "") not in ("", "0"):
            raise RandomnessError(
                "RandomSource",
                f"rng_seed is given while {_REQUIRE_SECURE} is set",
                "Seeded keys and encryptions can be recomputed by anyone who guesses the seed",
                f"Drop rng_seed, or unset {_REQUIRE_SECURE} in tests",
            )
        warn(
            InsecureWarning,
            "RandomSource",
            "rng_seed makes keys and encryptions reproducible, so they protect nothing",
            "It is for tests",
            "Leave it out for real data",
        )
        self._seed_key = hashlib.blake2b(
            _encode(rng_seed), digest_size=entropy.ROOT_BYTES, person=_PERSON
        ).digest()

    @property
    def insecure(self) -> bool:
        """Tell whether what this source makes is reproducible and so must be marked."""
        return self._seed_key is not None

    def root(self, domain: Domain, operation: str) -> bytes:
        """Give 32 bytes that no other call gets: the root of one key, batch or flooding.

        Cost: one system call, or one hash in test mode.

        Args:
            domain: What the bytes are for.
            operation: Name of the caller, for error texts.

        Raises:
            RandomnessError: The process was forked under native threads, or, in test mode, from
                the process that made this source. Start workers with spawn or forkserver.

        Example:
            >>> len(RandomSource().root(Domain.PUBLIC_SEED, "example"))
            32
        """
        if self._seed_key is None:
            return entropy.fresh_bytes(operation)
        entropy.require_unforked(operation)
        entropy.require_unrecorded(operation)
        if os.getpid() != self._process:
            raise RandomnessError(
                operation,
                f"a seeded source of process {self._process} is used in process {os.getpid()}",
                "A forked copy would repeat its parent's stream",
                "Make the engine in the worker, or start workers with spawn or forkserver",
            )
        with self._lock:
            count = self._counter
            self._counter += 1
        return derive(self._seed_key, Domain.TEST_ROOT, domain.value, _rank(operation), count)

    def __repr__(self) -> str:
        """Say which kind of source this is, never the seed or a byte of it."""
        return f"RandomSource({'seeded for tests, insecure' if self.insecure else 'secure'})"

    def __copy__(self) -> NoReturn:
        """Refuse: two copies of a seeded source would repeat each other."""
        self._refuse("copied")

    def __deepcopy__(self, memo: dict[int, object]) -> NoReturn:
        """Refuse: two copies of a seeded source would repeat each other."""
        self._refuse("copied")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse: a source belongs to one process."""
        self._refuse("pickled")

    def _refuse(self, verb: str) -> NoReturn:
        raise RandomnessError(
            "RandomSource",
            f"it was about to be {verb}",
            "A random source belongs to one engine in one process",
            "Make a new one where it is needed",
        )


def _rank(operation: str) -> int:
    text = os.environ.get("RANK", "0")
    try:
        return int(text)
    except ValueError:
        raise RandomnessError(
            operation,
            f"the environment variable RANK is {text!r}",
            "Seeded streams of two ranks differ by the rank's number",
            "Set RANK to this process's rank, or unset it",
        ) from None


def _encode(label: int | bytes | str) -> bytes:
    """Encode a label so that equal bytes mean equal type and value: tag, length, contents."""
    if isinstance(label, bool) or not isinstance(label, (int, bytes, str)):
        raise ParameterError(
            "derive",
            f"a label has type {type(label).__name__}",
            "Labels are integers, bytes or strings",
            "Convert it first",
        )
    if isinstance(label, int):
        tag, contents = b"i", label.to_bytes(label.bit_length() // 8 + 1, "little", signed=True)
    elif isinstance(label, bytes):
        tag, contents = b"b", label
    else:
        tag, contents = b"s", label.encode()
    return tag + len(contents).to_bytes(8, "little") + contents
