"""Canonical embedding against the definition: slot j is the polynomial's value at zeta^(5^j)."""

import flint
import numpy as np
import pytest
import torch

OPS = torch.ops.fhelium_ckks_ops
DEGREES = [2**k for k in range(1, 18)]


def uniform(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.rand(*shape, generator=generator, dtype=torch.float64) - 1


def as_complex(slots):
    return slots.numpy()[..., 0] + np.clongdouble(1j) * slots.numpy()[..., 1]


def exponents(degree):
    """5^j mod 2N of the slots."""
    found, power = [], 1
    for _ in range(degree // 2):
        found.append(power)
        power = power * 5 % (2 * degree)
    return np.array(found)


def evaluate(coefficients):
    """All slots of [*batch, N] by numpy's FFT of length 2N in long double."""
    degree = coefficients.shape[-1]
    wide = coefficients.numpy().astype(np.longdouble)
    padded = np.concatenate([wide, np.zeros_like(wide)], axis=-1)
    return (2 * degree * np.fft.ifft(padded))[..., exponents(degree)]


def exact_slots(coefficients):
    """All slots of [N] by ball arithmetic, each sum as it is defined."""
    degree = len(coefficients)
    slots = []
    with flint.ctx.workprec(200):
        for exponent in exponents(degree).tolist():
            total = flint.acb(0)
            for k, value in enumerate(coefficients.tolist()):
                total += value * flint.acb(flint.fmpq(exponent * k, degree)).exp_pi_i()
            slots.append(complex(float(total.real), float(total.imag)))
    return np.array(slots)


def distance(found, wanted):
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize("degree", [2, 4, 8, 16, 32, 64, 128])
def test_values_are_those_of_the_definition(degree):
    tables = OPS.embedding_tables(degree)
    coefficients = uniform(degree, seed=degree)
    slots = OPS.coefficients_to_slots(coefficients, tables)
    assert slots.shape == (degree // 2, 2)
    assert distance(as_complex(slots), exact_slots(coefficients)) < 2**-51
    back = OPS.slots_to_coefficients(slots, tables)
    assert back.shape == (degree,)
    assert (back - coefficients).abs().max() < 2**-50


@pytest.mark.parametrize("degree", DEGREES)
def test_accuracy_against_long_double(degree):
    tables = OPS.embedding_tables(degree)
    coefficients = uniform(2, degree, seed=1)
    wanted = evaluate(coefficients)
    slots = OPS.coefficients_to_slots(coefficients, tables)
    assert distance(as_complex(slots), wanted) < 2**-50.5
    # The inverse from slots that are right to the last bit.
    nearest = torch.from_numpy(np.stack([wanted.real, wanted.imag], -1).astype(np.float64))
    back = OPS.slots_to_coefficients(nearest, tables)
    assert (back - coefficients).abs().max() < 2**-49


@pytest.mark.parametrize("degree", DEGREES)
def test_round_trip_of_slots(degree):
    tables = OPS.embedding_tables(degree)
    slots = uniform(3, degree // 2, 2, seed=2)
    back = OPS.coefficients_to_slots(OPS.slots_to_coefficients(slots, tables), tables)
    assert (back - slots).abs().max() < 2**-49


def test_every_slot_alone():
    """A unit in one slot comes back in that slot and in no other."""
    degree = 64
    tables = OPS.embedding_tables(degree)
    for part in (0, 1):
        units = torch.zeros(degree // 2, degree // 2, 2, dtype=torch.float64)
        units[..., part] = torch.eye(degree // 2)
        coefficients = OPS.slots_to_coefficients(units, tables)
        values = evaluate(coefficients)
        assert np.abs(values - np.eye(degree // 2) * (1, 1j)[part]).max() < 2**-50


@pytest.mark.parametrize("degree", [4, 64, 4096])
def test_constants_are_exact(degree):
    tables = OPS.embedding_tables(degree)
    slots = torch.tensor([0.7, 0.0], dtype=torch.float64).expand(degree // 2, 2)
    coefficients = OPS.slots_to_coefficients(slots, tables)
    assert coefficients[0] == 0.7
    assert coefficients[1:].abs().max() == 0


def test_rotation_of_slots_is_the_automorphism():
    """m(X^(5^-k)) holds the slots moved by +k."""
    degree, step = 256, 3
    tables = OPS.embedding_tables(degree)
    coefficients = uniform(degree, seed=3)
    element = pow(5, -step, 2 * degree)
    moved = torch.zeros(degree, dtype=torch.float64)
    for k in range(degree):
        power = k * element % (2 * degree)
        moved[power % degree] = coefficients[k] if power < degree else -coefficients[k]
    slots = OPS.coefficients_to_slots(coefficients, tables)
    rotated = OPS.coefficients_to_slots(moved, tables)
    assert (rotated - torch.roll(slots, step, dims=0)).abs().max() < 2**-46


def test_huge_and_tiny_values_neither_overflow_nor_vanish():
    degree = 1024
    tables = OPS.embedding_tables(degree)
    slots = uniform(degree // 2, 2, seed=4)
    plain = OPS.slots_to_coefficients(slots, tables)
    for power in (1000, -900):
        scaled = OPS.slots_to_coefficients(slots * 2.0**power, tables)
        assert torch.equal(scaled, plain * 2.0**power)
    largest = torch.full((degree // 2, 2), 1.7e308, dtype=torch.float64)
    assert torch.isfinite(OPS.slots_to_coefficients(largest, tables)).all()


# --- the table -----------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [4, 8, 16, 256, 2**14, 2**16])
def test_sines_are_the_nearest_doubles(degree):
    """Every number of the table is cos or sin of a 2N-th root's angle, rounded once."""
    nearest = set()
    with flint.ctx.workprec(200):
        for k in range(degree // 4 + 1):
            turn = flint.acb(flint.fmpq(k, degree)).exp_pi_i()
            nearest |= {float(turn.real), float(turn.imag)}
    nearest |= {-value for value in nearest}
    found = OPS.embedding_tables(degree)[degree // 2 :]
    assert len(found) > 0
    assert set(found.tolist()) <= nearest


@pytest.mark.parametrize("degree", [2, 4, 64, 8192])
def test_positions_are_a_permutation_and_the_table_is_reproducible(degree):
    tables = OPS.embedding_tables(degree)
    positions = tables[: degree // 2].view(torch.int64)
    assert sorted(positions.tolist()) == list(range(degree // 2))
    assert torch.equal(OPS.embedding_tables(degree).view(torch.int64), tables.view(torch.int64))


def test_a_wrong_table_stays_inside_the_data():
    degree = 64
    tables = OPS.embedding_tables(degree)
    for word in (-1, 2**62, -(2**63)):
        wrong = tables.clone()
        wrong[: degree // 2] = torch.tensor(word).view(torch.float64)
        assert OPS.slots_to_coefficients(uniform(degree // 2, 2), wrong).shape == (degree,)
        assert OPS.coefficients_to_slots(uniform(degree), wrong).shape == (degree // 2, 2)


# --- views, batches, threads ---------------------------------------------------------------------


def test_strided_inputs_give_the_bits_of_their_copies():
    degree = 128
    tables = OPS.embedding_tables(degree)
    slots = uniform(2, degree // 2, 3, 2, seed=5).transpose(1, 2)
    coefficients = uniform(degree, 6, seed=6).T[::2]
    spaced = uniform(2 * len(tables))
    spaced[::2] = tables
    for table in (tables, spaced[::2]):
        found = OPS.slots_to_coefficients(slots, table)
        assert torch.equal(found, OPS.slots_to_coefficients(slots.contiguous(), tables))
        found = OPS.coefficients_to_slots(coefficients, table)
        assert torch.equal(found, OPS.coefficients_to_slots(coefficients.contiguous(), tables))
    repeated = uniform(degree).expand(3, degree)
    found = OPS.coefficients_to_slots(repeated, tables)
    assert torch.equal(found[0], found[2])


def test_a_row_does_not_depend_on_its_batch_or_on_threads():
    degree = 8192
    tables = OPS.embedding_tables(degree)
    slots = uniform(5, degree // 2, 2, seed=7)
    before = slots.clone()
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = torch.stack([OPS.slots_to_coefficients(row, tables) for row in slots])
        values = torch.stack([OPS.coefficients_to_slots(row, tables) for row in alone])
        torch.set_num_threads(2)
        assert torch.equal(OPS.slots_to_coefficients(slots, tables), alone)
        assert torch.equal(OPS.coefficients_to_slots(alone, tables), values)
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(slots, before)


def test_empty_batches():
    tables = OPS.embedding_tables(16)
    none = torch.zeros(0, 8, 2, dtype=torch.float64)
    assert OPS.slots_to_coefficients(none, tables).shape == (0, 16)
    assert OPS.coefficients_to_slots(none.view(0, 16), tables).shape == (0, 8, 2)


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [-4, 0, 1, 3, 24, 2**25])
def test_degrees(degree):
    with pytest.raises(
        RuntimeError, match=f"embedding_tables: the degree is {degree}. .*power of two"
    ):
        OPS.embedding_tables(degree)


def test_shapes_and_types():
    tables = OPS.embedding_tables(16)
    double = torch.float64
    with pytest.raises(RuntimeError, match=r"slots has shape \[8\]"):
        OPS.slots_to_coefficients(torch.zeros(8, dtype=double), tables)
    with pytest.raises(RuntimeError, match=r"slots has shape \[8, 3\]"):
        OPS.slots_to_coefficients(torch.zeros(8, 3, dtype=double), tables)
    with pytest.raises(RuntimeError, match="slots holds float32, needed is float64"):
        OPS.slots_to_coefficients(torch.zeros(8, 2), tables)
    with pytest.raises(RuntimeError, match=r"tables has shape \[\d+\], degree 32 needs \[\d+\]"):
        OPS.slots_to_coefficients(torch.zeros(16, 2, dtype=double), tables)
    with pytest.raises(RuntimeError, match="the degree is 12"):
        OPS.slots_to_coefficients(torch.zeros(6, 2, dtype=double), tables)
    with pytest.raises(RuntimeError, match=r"coefficients has shape \[\]"):
        OPS.coefficients_to_slots(torch.zeros((), dtype=double), tables)
    with pytest.raises(RuntimeError, match="coefficients holds float32, needed is float64"):
        OPS.coefficients_to_slots(torch.zeros(16), tables)
    with pytest.raises(RuntimeError, match="tables holds float32, needed is float64"):
        OPS.coefficients_to_slots(torch.zeros(16, dtype=double), tables.float())
    with pytest.raises(RuntimeError, match="degree 8 needs"):
        OPS.coefficients_to_slots(torch.zeros(8, dtype=double), tables)
