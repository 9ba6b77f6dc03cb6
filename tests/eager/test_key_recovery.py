"""What a decryption that is given away costs: attacks on the secret key, on a small insecure ring.

The attacker sees ciphertexts and decrypted slots, and uses nothing of the library but its public
values: NumPy's FFT re-encodes the slots, python-flint solves for the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
import torch
from flint import nmod_poly

from fhelium import Ciphertext, Engine, PublicKey, SecretKey
from fhelium.errors import DecryptionWarning
from tests.eager.support import PRIVATE, insecure_config

pytestmark = pytest.mark.usefixtures("one_thread")

N = 4096


def forward(coefficients: np.ndarray) -> np.ndarray:
    """Evaluate real polynomials at the odd powers of zeta = exp(i pi / N), in order of the power.

    The inverse FFT has the sign of zeta; entry k belongs to zeta^(2k + 1).
    """
    twist = np.exp(1j * np.pi / N * np.arange(N))
    return np.fft.ifft(coefficients * twist, axis=-1) * N


def backward(values: np.ndarray) -> np.ndarray:
    """Interpolate: the real coefficients of the polynomial with these values."""
    twist = np.exp(-1j * np.pi / N * np.arange(N))
    return (np.fft.fft(values, axis=-1) / N * twist).real


# Slot j is the value at zeta^(5^j); its conjugate stands at the mirrored root.
_SLOTS = np.array([(pow(5, j, 2 * N) - 1) // 2 for j in range(N // 2)])


def re_encode(slots: torch.Tensor, scale: float) -> np.ndarray:
    """Give the coefficients behind decrypted slots, times the scale, not yet rounded."""
    values = np.zeros(N, dtype=complex)
    values[_SLOTS] = slots.numpy()
    values[N - 1 - _SLOTS] = slots.numpy().conj()
    return backward(values) * scale


@dataclass(frozen=True)
class Victim:
    engine: Engine
    secret_key: SecretKey
    public_key: PublicKey

    @cached_property
    def secret(self) -> list[int]:
        """The coefficients of s, solved for from an exact decryption."""
        zero = self.engine.encrypt_message(0.0, self.public_key)
        phase = self.engine.decrypt(zero, self.secret_key, policy=PRIVATE)
        q = self.engine.config.q_primes[0]
        return solve(zero, phase.data[0].numpy(), q)

    def encrypt(self, seed: int, scale: float | None = None) -> tuple[torch.Tensor, Ciphertext]:
        generator = torch.Generator().manual_seed(seed)
        message = torch.rand(N // 2, dtype=torch.float64, generator=generator) * 2 - 1
        return message, self.engine.encrypt_message(message, self.public_key, scale=scale)

    def answer(self, seed: int) -> tuple[torch.Tensor, Ciphertext, torch.Tensor]:
        """Decrypt a fresh ciphertext as the default does."""
        message, ciphertext = self.encrypt(seed)
        return message, ciphertext, self.engine.decrypt_message(ciphertext, self.secret_key)


def new_victim(engine: Engine) -> Victim:
    secret_key = engine.create_secret_key()
    return Victim(engine, secret_key, engine.create_public_key(secret_key))


@pytest.fixture(scope="module")
def victim() -> Victim:
    return new_victim(Engine(insecure_config(depth=1, scale_bits=40, N=N)))


def solve(ciphertext: Ciphertext, phase: np.ndarray, q: int) -> list[int]:
    """Solve c0 + c1 s = phase modulo the first prime: s = (phase - c0) / c1, centred."""
    modulus = nmod_poly([1] + [0] * (N - 1) + [1], q)
    c0, c1 = (nmod_poly(row.tolist(), q) for row in ciphertext.data[:, 0])
    right = nmod_poly([int(x) % q for x in phase], q) - c0
    common, inverse, _ = c1.xgcd(modulus)
    assert common == 1  # c1 has no zero among its N values mod q, but for a chance of N / q
    found = [int(x) for x in (right * inverse % modulus).coeffs()]
    found += [0] * (N - len(found))
    return [x - q if x > q // 2 else x for x in found]


def recover(ciphertext: Ciphertext, slots: torch.Tensor) -> list[int]:
    """Take what was released for the exact decryption, and solve for the key."""
    phase = np.rint(re_encode(slots, ciphertext.scale))
    return solve(ciphertext, phase, ciphertext.config.q_primes[0])


def is_ternary(polynomial: list[int]) -> bool:
    return set(polynomial) <= {-1, 0, 1}


def test_the_attack_on_a_raw_decryption_gives_the_key(victim) -> None:
    for seed, scale in enumerate((2.0**30, None, 2.0**46)):
        _, ciphertext = victim.encrypt(seed, scale)
        slots = victim.engine.decrypt_message(ciphertext, victim.secret_key, policy=PRIVATE)
        found = recover(ciphertext, slots)
        assert is_ternary(found)
        assert found == victim.secret

    # It is the key: it opens another ciphertext, in the attacker's own arithmetic.
    message, other = victim.encrypt(99)
    q = victim.engine.config.q_primes[0]
    modulus = nmod_poly([1] + [0] * (N - 1) + [1], q)
    c0, c1 = (nmod_poly(row.tolist(), q) for row in other.data[:, 0])
    opened = (c0 + c1 * nmod_poly([x % q for x in found], q)) % modulus
    coefficients = [int(x) for x in opened.coeffs()]
    centred = np.array([float(x - q if x > q // 2 else x) for x in coefficients])
    slots = forward(centred / other.scale)[_SLOTS]
    assert np.abs(slots - message.numpy()).max() < 2.0**-20


def test_the_attack_fails_on_the_default_for_128_queries(victim) -> None:
    fresh = new_victim(victim.engine)
    with pytest.warns(DecryptionWarning, match="128 distinct values"):
        answers = list(map(fresh.answer, range(128)))
    for query, (message, ciphertext, slots) in enumerate(answers):
        found = recover(ciphertext, slots)
        assert not is_ternary(found), query
        # Nearly every coefficient is anything mod q: no hint of s is left.
        assert np.mean(np.abs(found) > 2**20) > 0.9
        assert (slots.real - message).abs().max() < 2.0**-18


def test_one_ciphertext_gives_one_answer(victim) -> None:
    """Averaging needs different answers to one question."""
    _, ciphertext = victim.encrypt(7)
    engine, key = victim.engine, victim.secret_key
    first = engine.decrypt_message(ciphertext, key)
    in_ntt = engine.coefficient_domain_to_ntt_domain(ciphertext)
    batch = Ciphertext(torch.stack([ciphertext.data] * 3, dim=1), ciphertext.state)
    for again in (ciphertext, ciphertext.clone(), in_ntt, *batch, batch[1:][0]):
        assert torch.equal(engine.decrypt_message(again, key), first)
    assert not torch.equal(first, engine.decrypt_message(ciphertext, key, policy=PRIVATE))


def test_the_attack_fails_on_release(victim) -> None:
    for query in range(4):
        message, ciphertext = victim.encrypt(query, 2.0**46)
        for policy in (PRIVATE, None):  # the first shows that the attack would work at this scale
            slots = victim.engine.decrypt_message(ciphertext, victim.secret_key, policy=policy)
            assert is_ternary(recover(ciphertext, slots)) == (policy is PRIVATE)
        released = victim.engine.decrypt_for_release(
            ciphertext, victim.secret_key, circuit="attack", queries=4, statistical_bits=20
        )
        found = recover(ciphertext, released)
        assert not is_ternary(found)
        assert np.mean(np.abs(found) > 2**20) > 0.9
        assert (released.real - message).abs().max() < 2.0**-4


class LeastSquares:
    """Known messages and public remainders: a rescale's error is r0 + r1 s, and anyone computes r.

    A decryption of the rescaled ciphertext minus the known message is r0 + r1 s + noise: N linear
    equations in s over the reals. In the canonical embedding they are N separate ones.
    """

    def __init__(self) -> None:
        self.numerator = np.zeros(N, dtype=complex)
        self.denominator = np.zeros(N)

    def query(self, victim: Victim, seed: int, decrypt) -> None:
        engine = victim.engine
        q = engine.config.q_primes[0]
        message, ciphertext = victim.encrypt(seed)
        product = engine.multiply_scalar(ciphertext, 1.0)
        rescaled = engine.rescale_to_next_depth(product)
        residues = product.data[:, 0].numpy()
        r0, r1 = np.where(residues > q // 2, residues - q, residues) / q
        clear = re_encode(message.to(torch.complex128), rescaled.scale)
        error = re_encode(decrypt(rescaled), rescaled.scale) - clear
        known = forward(r1)
        self.numerator += known.conj() * forward(-error - r0)
        self.denominator += np.abs(known) ** 2

    def share(self, secret: list[int]) -> float:
        """Return the share of the key's coefficients that rounding the estimate gives."""
        estimate = backward(self.numerator / self.denominator)
        return float(np.mean(np.rint(estimate).clip(-1, 1) == np.array(secret)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fhelium.errors.DecryptionWarning")
def test_the_default_is_no_defence_against_known_messages(victim) -> None:
    """SECURITY.md says so: covering noise of the error's own size only slows this attack down."""
    key = victim.secret_key
    attack, release = LeastSquares(), LeastSquares()
    for query in range(128):
        attack.query(victim, query, lambda ct: victim.engine.decrypt_message(ct, key))
        release.query(
            victim,
            query,
            lambda ct: victim.engine.decrypt_for_release(
                ct, key, circuit="known messages", queries=128, statistical_bits=1
            ),
        )
    assert attack.share(victim.secret) > 0.98
    assert release.share(victim.secret) < 0.5
