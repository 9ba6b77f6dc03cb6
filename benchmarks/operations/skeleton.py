"""The bare kernels of whole operations, on the chain of a config: see skeleton.cpp."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import torch

from benchmarks.native import WIDE, compile_library
from fhelium.config import CkksConfig
from fhelium.native.wrapper import rns_ops


class _Key(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("digit_stride", ctypes.c_int64),
        ("component_stride", ctypes.c_int64),
        ("limb_stride", ctypes.c_int64),
    )

    @classmethod
    def of(cls, key: torch.Tensor) -> _Key:
        return cls(key.data_ptr(), *key.stride()[:3])


@cache
def _library() -> ctypes.CDLL:
    flags = WIDE if rns_ops.cpu_isa() == "avx512" else []
    library = ctypes.CDLL(str(compile_library(Path(__file__).with_name("skeleton.cpp"), *flags)))
    library.skeleton_make.restype = ctypes.c_void_p
    return library


class Skeleton:
    """Bare kernels on payloads of depth 0 in the NTT domain, results written to tensors of yours.

    Args:
        config: The chain, digits and special primes; residues of int64.
    """

    def __init__(self, config: CkksConfig) -> None:
        count = len(config.primes)
        numbers = ctypes.c_uint64 * count
        sizes = (config.N, len(config.q_primes), count, config.alpha)
        self._library = _library()
        self._handle = ctypes.c_void_p(
            self._library.skeleton_make(
                rns_ops.cpu_isa().encode(),
                *map(ctypes.c_int64, sizes),
                numbers(*config.primes),
                numbers(*map(config.root, range(count))),
            )
        )

    def multiply_relinearize_rescale(
        self, out: torch.Tensor, a: torch.Tensor, b: torch.Tensor, key: torch.Tensor
    ) -> None:
        """Multiply two ciphertexts of two components; the result has one limb fewer."""
        pointers = (ctypes.c_void_p(x.data_ptr()) for x in (out, a, b))
        self._library.skeleton_multiply(self._handle, *pointers, ctypes.byref(_Key.of(key)))

    def rotate(self, out: torch.Tensor, a: torch.Tensor, key: torch.Tensor, element: int) -> None:
        """Apply X -> X^element and change the key back."""
        pointers = (ctypes.c_void_p(x.data_ptr()) for x in (out, a))
        self._library.skeleton_rotate(
            self._handle, *pointers, ctypes.byref(_Key.of(key)), ctypes.c_uint64(element)
        )

    def rotate_many(
        self,
        outs: Sequence[torch.Tensor],
        a: torch.Tensor,
        keys: Sequence[torch.Tensor],
        elements: Sequence[int],
    ) -> None:
        """Rotate one ciphertext several times, hoisted."""
        count = len(elements)
        self._library.skeleton_rotate_many(
            self._handle,
            (ctypes.c_void_p * count)(*(out.data_ptr() for out in outs)),
            ctypes.c_void_p(a.data_ptr()),
            (_Key * count)(*map(_Key.of, keys)),
            (ctypes.c_uint64 * count)(*elements),
            ctypes.c_int64(count),
        )
