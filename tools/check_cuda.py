"""Check what a machine without a GPU can know of a module with CUDA kernels.

Usage: FHELIUM_NATIVE_FOLDER=... python tools/check_cuda.py

The variable names the folder of a module that was compiled with FHELIUM_NATIVE_BACKENDS=CPU+CUDA,
or CUDA for a torch with CUDA. It must load and have a CUDA kernel for every operator but those that
HOST_ONLY names, and a CPU kernel for every one or, compiled for CUDA alone, for none. That no
kernel spills registers or keeps an array in memory, its compilation has checked (cmake/cuda.cmake).
Prints the faults and exits 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import torch

from fhelium.errors import NativeError
from fhelium.native.cuda.cuda_info import cuda_info
from fhelium.native.fake import operator_names
from fhelium.native.runtime import load_operators, native_status

HOST_ONLY = re.compile(
    # Answers about the binary.
    r"rns_ops::(cpu_isa|parameter_row_names|workspace_bytes|release_workspace)"
    # Slots and reals: messages are encoded and decoded on the host.
    r"|rns_ops::(round_to_residues|residues_to_real)"
    r"|ckks_ops::(encode_slots|decode_residues|embedding_tables|slots_to_coefficients"
    r"|coefficients_to_slots)"
    # Whole operations around a secret key, which stays on the host.
    r"|ckks_ops::(encrypt_with_public|encrypt_with_secret|decrypt_residues|make_public_key"
    r"|make_switching_key_)"
    # The CPU's instruction sets.
    r"|ntt_diagnostic_ops::\w+"
)


def is_host_only(name: str) -> bool:
    """Return whether an operator computes on the CPU alone."""
    return HOST_ONLY.fullmatch(name.removeprefix("fhelium_")) is not None


def faults() -> Iterator[str]:
    """Yield what does not load, and each operator whose registrations are not those needed."""
    try:
        load_operators()  # without the refusals that stand where there is no CUDA kernel
    except NativeError as error:
        yield str(error)
        return
    keys = ("CPU", "CUDA", "CompositeExplicitAutograd")
    kernels = {
        name: [torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in keys]
        for name in operator_names()
    }
    backends = native_status().backends
    if "CUDA" not in backends:
        yield f"the manifest names {'+'.join(backends)}, needed is CUDA among them"
    for name, (cpu, cuda, both) in kernels.items():
        if cuda == is_host_only(name):
            yield f"{name} has {'a' if cuda else 'no'} CUDA kernel"
        if cpu != ("CPU" in backends) and not both:
            yield f"{name} has {'a' if cpu else 'no'} CPU kernel"


def main() -> int:
    """Print the faults; return 1 if there is one."""
    found = list(faults())
    for fault in found:
        print(f"check_cuda: {fault}")
    if not found:
        manifest = native_status().manifest or {}
        devices = cuda_info().reason or f"{len(cuda_info().devices)} devices"
        print(
            f"check_cuda: CUDA {manifest['cuda_toolkit']}, architectures "
            f"{', '.join(manifest['cuda_architectures'])}: every operator of "
            f"{'+'.join(manifest['backends'])} is registered ({devices})"
        )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
