"""Encryption, decryption, key generation and the codec in one call against their steps."""

from collections.abc import Callable

import pytest
import torch

from fhelium import CkksConfig
from fhelium.backend.ckks import CkksDeviceResources, encryption
from fhelium.backend.ckks import key_generation as keys
from fhelium.native.wrapper import ckks_ops, rns_ops
from tests.native.rings import Ring
from tests.native.samples import SAMPLES

SEED, ROOT = bytes(range(32)), bytes(range(32, 64))
BATCHES = ((), (1,), (2, 3), (0,))
VALIDATION = "radix2_indexed"  # keys take the composed route over it
depths = pytest.mark.parametrize("depth", [0, 2])
domains = pytest.mark.parametrize("in_ntt", [False, True])


@pytest.fixture(scope="module", params=["int64", "int32"])
def resources(request) -> CkksDeviceResources:
    """Small rings of both residue types, with digits of two primes."""
    config = CkksConfig.create(
        depth=3,
        scale_bits={"int64": 40, "int32": 25}[request.param],
        N=1024,
        allow_insecure=True,
        dtype_name=request.param,
    )
    return CkksDeviceResources(config=config)


def routes(resources) -> tuple[encryption.WholeEncryption, encryption.ComposedEncryption]:
    """The one call and its steps, over one NTT backend."""
    whole = encryption.encryption_on(resources, "packed")
    assert isinstance(whole, encryption.WholeEncryption)
    return whole, encryption.ComposedEncryption(resources, "packed")


def uniform(resources, basis: str, depth: int, *batch: int, seed: int = 0) -> torch.Tensor:
    """Residues [*batch, limb, N]."""
    primes = resources.config.primes if basis == "QP" else resources.config.q_primes
    generator = torch.Generator().manual_seed(seed)
    shape = (*batch, resources.config.N)
    rows = [torch.randint(0, q, shape, generator=generator) for q in primes[depth:]]
    return torch.stack(rows, -2).to(resources.config.dtype)


def spread(tensor: torch.Tensor) -> torch.Tensor:
    """The same values with other strides in every axis."""
    wide = torch.zeros(*(2 * size for size in tensor.shape), dtype=tensor.dtype)
    return wide[tuple(slice(None, None, 2) for _ in tensor.shape)].copy_(tensor)


def on_each_number_of_threads(call: Callable[[], torch.Tensor]) -> torch.Tensor:
    threads, found = torch.get_num_threads(), []
    try:
        for count in (1, 3):
            torch.set_num_threads(count)
            found.append(call())
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(*found)
    return found[0]


@depths
@domains
@pytest.mark.parametrize("batch", BATCHES)
def test_encryption_with_a_public_key(resources, depth, in_ntt, batch):
    whole, composed = routes(resources)
    message = uniform(resources, "Q", depth, *batch)
    public_key = uniform(resources, "QP", 0, 2, seed=1)
    for encode, key in ((message, public_key), (spread(message), spread(public_key))):
        arguments = (encode, key, ROOT, depth)
        found = on_each_number_of_threads(
            lambda own=arguments: whole.with_public_key(*own, to_ntt=in_ntt)
        )
        wanted = composed.with_public_key(*arguments, to_ntt=in_ntt)
        assert found.shape == (2, *message.shape)
        assert torch.equal(found, wanted)


@depths
@domains
@pytest.mark.parametrize("batch", BATCHES)
def test_encryption_with_a_secret_key(resources, depth, in_ntt, batch):
    whole, composed = routes(resources)
    message, secret = uniform(resources, "Q", depth, *batch), uniform(resources, "QP", 0, seed=1)
    for encode, key in ((message, secret), (spread(message), spread(secret))):
        arguments = (encode, key, SEED, ROOT, depth)
        found = on_each_number_of_threads(
            lambda own=arguments: whole.with_secret_key(*own, to_ntt=in_ntt)
        )
        wanted = composed.with_secret_key(*arguments, to_ntt=in_ntt)
        assert torch.equal(found, wanted)


@depths
@domains
@pytest.mark.parametrize("components", [2, 3, 4])
@pytest.mark.parametrize("batch", BATCHES)
def test_decryption(resources, depth, in_ntt, components, batch):
    whole, composed = routes(resources)
    ciphertext = uniform(resources, "Q", depth, components, *batch)
    secret = uniform(resources, "QP", 0, seed=1)
    for hidden, key in ((ciphertext, secret), (spread(ciphertext), spread(secret))):
        arguments = (hidden, key, depth)
        found = on_each_number_of_threads(
            lambda own=arguments: whole.decrypted(*own, from_ntt=in_ntt)
        )
        wanted = composed.decrypted(*arguments, from_ntt=in_ntt)
        assert torch.equal(found, wanted)


def test_keys(resources):
    secret, source = (uniform(resources, "QP", 0, seed=seed) for seed in (1, 2))
    for old, new in ((source, secret), (spread(source), spread(secret))):
        arguments = (old, new, SEED, ROOT)
        found = on_each_number_of_threads(
            lambda own=arguments: keys.make_switching_key(resources, "packed", *own)
        )
        wanted = keys.make_switching_key(resources, VALIDATION, *arguments)
        assert torch.equal(found, wanted)
        assert found.stride() == wanted.stride()
        public = on_each_number_of_threads(
            lambda own=new: keys.make_public_key(resources, "packed", own, SEED, ROOT)
        )
        assert torch.equal(public, keys.make_public_key(resources, VALIDATION, new, SEED, ROOT))


@depths
@pytest.mark.parametrize("scale", [2.0**20, 1.1 * 2.0**70])
@pytest.mark.parametrize("batch", BATCHES)
def test_encoding(resources, depth, scale, batch):
    embedding = resources.material("embedding")
    params = resources.material(f"rns_parameters/Q/{depth}")
    generator = torch.Generator().manual_seed(1)
    shape = (*batch, resources.config.num_slots, 2)
    slots = torch.randn(shape, dtype=torch.float64, generator=generator)
    coefficients = ckks_ops.slots_to_coefficients(slots, embedding)
    wanted = rns_ops.round_to_residues(coefficients, scale, params, resources.config.dtype)
    for own in (slots, spread(slots)):
        found = on_each_number_of_threads(
            lambda own=own: encryption.encode_slots(resources, own, scale, depth)
        )
        assert torch.equal(found, wanted)


@depths
@pytest.mark.parametrize("scale", [1.0, 1.1 * 2.0**40])
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("size", [2.0**20, 2.0**40, None])
def test_decoding(resources, depth, scale, batch, size):
    """Integers that two primes name, in parts or in all, and that need every prime."""
    params = resources.material(f"rns_parameters/Q/{depth}")
    residues = uniform(resources, "Q", depth, *batch)
    if size is not None:
        generator = torch.Generator().manual_seed(1)
        shape = (*batch, resources.config.N)
        values = size * torch.randn(shape, dtype=torch.float64, generator=generator)
        residues = rns_ops.round_to_residues(values, 1.0, params, resources.config.dtype)
    coefficients = rns_ops.residues_to_real(residues, params) / scale
    wanted = ckks_ops.coefficients_to_slots(coefficients, resources.material("embedding"))
    for own in (residues, spread(residues)):
        found = on_each_number_of_threads(
            lambda own=own: encryption.decode_slots(resources, own, scale, depth)
        )
        assert torch.equal(torch.view_as_real(found), wanted)


# --- refusals ------------------------------------------------------------------------------------


def replaced(name: str, index: int, value: object) -> tuple:
    arguments = list(SAMPLES[f"fhelium_ckks_ops::{name}"](Ring()))
    arguments[index] = value(arguments[index]) if callable(value) else value
    return tuple(arguments)


REFUSALS = [
    ("encrypt_with_public", 0, lambda x: x[..., 1:, :], "plaintext has 2 limbs, the tables 3"),
    ("encrypt_with_public", 0, lambda x: x.int(), "for int64 residues|made for"),
    ("encrypt_with_public", 1, lambda x: x[:, 1:], "public_key has shape"),
    ("encrypt_with_public", 2, lambda x: x[1:], r"mask_key has shape \[31\], needed is \[32\]"),
    ("encrypt_with_public", 3, lambda x: x.int(), "error_key holds int32"),
    ("encrypt_with_public", 5, lambda x: x[1:], "tables has shape"),
    ("encrypt_with_secret", 1, lambda x: x[1:], "secret has shape"),
    ("encrypt_with_secret", 2, lambda x: x[1:], r"public_seed has shape \[31\]"),
    ("encrypt_with_secret", 3, lambda x: x[1:], r"error_key has shape \[31\]"),
    ("encrypt_with_secret", 4, -1, "first_prime_id is -1"),
    ("encrypt_with_secret", 4, 2**32 - 4, "first_prime_id is 4294967292"),
    ("encrypt_with_secret", 5, lambda x: x.roll(1, 0), "is not a table for N = 16 and q = 97"),
    ("encrypt_with_secret", 6, lambda x: x[:, 1:], "rns_params has shape"),
    ("decrypt_residues", 0, lambda x: x[:1], "ciphertext has 1 components"),
    ("decrypt_residues", 0, lambda x: x[0, 0], "ciphertext has shape"),
    ("decrypt_residues", 1, lambda x: x.int(), "secret holds int32"),
    ("make_public_key", 0, lambda x: x[None], "secret has shape"),
    ("make_public_key", 1, lambda x: x[1:], r"public_seed has shape \[31\]"),
    ("make_switching_key_", 0, lambda x: x[:1], "key has shape"),
    ("make_switching_key_", 0, lambda x: x[:, :1].expand_as(x), "share an element"),
    ("make_switching_key_", 1, lambda x: x[1:], "source has shape"),
    ("make_switching_key_", 2, lambda x: x[1:], "secret has shape"),
    ("encode_slots", 0, lambda x: x[..., :1], "slots has shape"),
    ("encode_slots", 1, lambda x: x[1:], "tables has shape"),
    ("encode_slots", 2, float("nan"), "the scale is nan"),
    ("encode_slots", 0, lambda x: x / 0, "times the scale is not finite"),
    ("decode_residues", 0, lambda x: x[0, 0], "residues has shape"),
    ("decode_residues", 2, 0.0, "the scale is 0"),
    ("decode_residues", 3, lambda x: x[:, 1:], "rns_params has shape"),
]


@pytest.mark.parametrize(("name", "index", "value", "message"), REFUSALS)
def test_refusals(name, index, value, message):
    with pytest.raises(RuntimeError, match=f"{name}: .*({message})"):
        getattr(torch.ops.fhelium_ckks_ops, name)(*replaced(name, index, value))


def test_a_key_is_not_made_over_its_own_source():
    key, source, *rest = SAMPLES["fhelium_ckks_ops::make_switching_key_"](Ring())
    with pytest.raises(RuntimeError, match="make_switching_key_: source and destination share"):
        ckks_ops.make_switching_key_(key, key[0, 0], source, *rest[1:])


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32], ids=str)
@pytest.mark.parametrize("table", [5, 6])
def test_a_key_is_not_made_over_the_tables_that_it_is_made_with(dtype, table):
    """Its rows are written while the tables are read."""
    arguments = list(SAMPLES["fhelium_ckks_ops::make_switching_key_"](Ring(dtype)))
    key, wanted = arguments[0], arguments[table]
    room = torch.zeros(wanted.numel() * wanted.element_size() // 8 + key.numel(), dtype=torch.int64)
    own = room.view(wanted.dtype)[: wanted.numel()].view(wanted.shape).copy_(wanted)
    behind = own.numel() * own.element_size() // key.element_size() - 1
    arguments[0] = room.view(dtype)[behind:][: key.numel()].view(key.shape)
    arguments[table] = own
    with pytest.raises(RuntimeError, match="make_switching_key_: source and destination share"):
        ckks_ops.make_switching_key_(*arguments)
    assert torch.equal(own, wanted)
