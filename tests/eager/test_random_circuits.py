"""No slot of a random circuit is ever further off than its bound, whatever the messages are.

One program of operations runs on a batch of messages at once; each message is one circuit.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import torch

from fhelium import Ciphertext, CkksConfig, Engine, PublicKey, SecretKey
from fhelium.errors import (
    BoundError,
    DepthExhaustedError,
    MessageValueError,
    ParameterError,
    StateError,
)
from tests.eager.support import PRIVATE, insecure_config

pytestmark = pytest.mark.usefixtures("one_thread")

STEPS = (1, 5, -3)

# A scale below 1 is a ParameterError of prepare_plaintext and a MessageValueError of a scalar.
REFUSALS = (BoundError, DepthExhaustedError, MessageValueError, ParameterError, StateError)


def messages(generator: torch.Generator, rows: int, slots: int, bound: float) -> torch.Tensor:
    """Give one message a row, of kinds that take turns; none has a slot above the bound."""

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(*shape, dtype=torch.float64, generator=generator)

    turn = torch.polar(torch.ones(rows, slots, dtype=torch.float64), uniform(rows, slots) * 6.2832)
    kinds = [
        turn * (1 - 2.0**-50),  # on the bound in every slot
        turn * uniform(rows, slots),
        turn.real.sign() + 0j,
        turn[:, :1].expand(rows, slots) * (1 - 2.0**-50),  # one value everywhere
        turn * (torch.arange(slots) == 0),  # one slot ...
        turn * (torch.arange(slots) == 3) * 2.0**-22 / bound,  # ... too small to be encoded
        turn * 2.0**-18,
        torch.zeros(rows, slots, dtype=torch.complex128),
    ]
    chosen = torch.arange(rows) % len(kinds)
    return bound * torch.stack(kinds)[chosen, torch.arange(rows)]


@dataclass
class Value:
    ciphertext: Ciphertext
    clear: torch.Tensor


@dataclass
class Program:
    """A random straight-line program over a pool of values, in the clear and encrypted."""

    engine: Engine
    public_key: PublicKey
    choices: random.Random
    rows: int
    pool: list[Value] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.generator = torch.Generator().manual_seed(self.choices.getrandbits(60))

    def fresh(self) -> None:
        config, bound = self.engine.config, 2.0 ** self.choices.randint(-5, 3)
        clear = messages(self.generator, self.rows, config.num_slots, bound)
        ciphertext = self.engine.encrypt_message(
            clear,
            self.public_key,
            depth=self.choices.choice((0, 0, 0, 1, 2)),
            scale=self.choices.choice((None, None, 2.0**27, 1.3 * 2.0**30)),
            message_bound=bound,
            output_domain=self.choices.choice(("ntt", "coefficient")),
        )
        self.pool.append(Value(ciphertext, clear))

    def step(self) -> None:
        """Try one operation; where its operands do not fit or the bounds refuse, do nothing."""
        name = self.choices.choice(list(OPERATIONS))
        try:
            made = OPERATIONS[name](self, self.choices.choice(self.pool))
        except REFUSALS as error:
            self.refused[type(error).__name__] += 1
            return
        self.done[name] += 1
        self.pool.append(made)

    def partner(self, value: Value) -> Value:
        """Give a value of the same state axes; the value itself if there is no other."""
        state = value.ciphertext.state
        axes = ("depth", "scale", "polynomial_domain", "components")
        fitting = [
            other
            for other in self.pool
            if all(getattr(other.ciphertext.state, a) == getattr(state, a) for a in axes)
        ]
        return self.choices.choice(fitting)

    def scalar(self) -> float:
        return self.choices.uniform(-1, 1) * 2.0 ** self.choices.randint(-6, 4)

    def clear_vector(self) -> torch.Tensor:
        bound = 2.0 ** self.choices.randint(-5, 3)
        return messages(self.generator, self.rows, self.engine.config.num_slots, bound)

    def worst(self, secret_key: SecretKey) -> tuple[float, float]:
        """Return the largest error over its bound, and the largest slot over its bound."""
        error = slot = 0.0
        for value in self.pool:
            state = value.ciphertext.state
            found = self.engine.decrypt_message(value.ciphertext, secret_key, policy=PRIVATE)
            error = max(error, share(found - value.clear, state.noise_bound))
            slot = max(slot, share(value.clear, state.message_bound))
        return error, slot


def share(slots: torch.Tensor, bound: float) -> float:
    """Return the largest magnitude over the bound; the bound 0 allows zero alone."""
    largest = float(slots.abs().max())
    return largest / bound if bound else (0.0 if largest == 0 else float("inf"))


def linear(method: str) -> Callable[[Program, Value], Value]:
    def apply(program: Program, a: Value) -> Value:
        b = program.partner(a)
        clear = a.clear + b.clear if method == "add" else a.clear - b.clear
        return Value(getattr(program.engine, method)(a.ciphertext, b.ciphertext), clear)

    return apply


def add_many(program: Program, a: Value) -> Value:
    values = [a] + [program.partner(a) for _ in range(program.choices.randint(0, 3))]
    clear = torch.stack([value.clear for value in values]).sum(0)
    return Value(program.engine.add_many([value.ciphertext for value in values]), clear)


def multiply(program: Program, a: Value) -> Value:
    b = program.partner(a)
    return Value(program.engine.multiply(a.ciphertext, b.ciphertext), a.clear * b.clear)


def square(program: Program, a: Value) -> Value:
    return Value(program.engine.square(a.ciphertext), a.clear**2)


def product_and_rescale(program: Program, a: Value) -> Value:
    made, engine = multiply(program, a), program.engine
    return Value(engine.rescale_to_next_depth(engine.relinearize(made.ciphertext)), made.clear)


def unary(method: str) -> Callable[[Program, Value], Value]:
    def apply(program: Program, a: Value) -> Value:
        clear = {"negate": a.clear.neg(), "conjugate": a.clear.conj()}.get(method, a.clear)
        return Value(getattr(program.engine, method)(a.ciphertext), clear)

    return apply


def relinearize(program: Program, a: Value) -> Value:
    products = [value for value in program.pool if value.ciphertext.components == 3]
    a = program.choices.choice(products or [a])
    return Value(program.engine.relinearize(a.ciphertext), a.clear)


def rotate(program: Program, a: Value) -> Value:
    step = program.choices.choice(STEPS)
    moved = program.engine.rotate_by_step(a.ciphertext, step)
    return Value(moved, torch.roll(a.clear, step, dims=-1))


def rotate_many(program: Program, a: Value) -> Value:
    moved = program.engine.rotate_many_by_steps(a.ciphertext, STEPS)
    index = program.choices.randrange(len(STEPS))
    return Value(moved[index], torch.roll(a.clear, STEPS[index], dims=-1))


def add_plaintext(program: Program, a: Value) -> Value:
    clear = program.clear_vector()
    encoded = program.engine.prepare_plaintext(clear, like=a.ciphertext, for_="add")
    return Value(program.engine.add_plaintext(a.ciphertext, encoded), a.clear + clear)


def multiply_plaintext(program: Program, a: Value) -> Value:
    clear = program.clear_vector()
    encoded = program.engine.prepare_plaintext(clear, like=a.ciphertext)
    return Value(program.engine.multiply_plaintext(a.ciphertext, encoded), a.clear * clear)


def sum_plaintext_products(program: Program, a: Value) -> Value:
    b, engine = program.partner(a), program.engine
    clear = [program.clear_vector() for _ in range(2)]
    encoded = [engine.prepare_plaintext(c, like=a.ciphertext, message_bound=8.0) for c in clear]
    total = engine.sum_plaintext_products([a.ciphertext, b.ciphertext], encoded)
    return Value(total, a.clear * clear[0] + b.clear * clear[1])


def add_scalar(program: Program, a: Value) -> Value:
    scalar = program.scalar()
    return Value(program.engine.add_scalar(a.ciphertext, scalar), a.clear + scalar)


def multiply_scalar(program: Program, a: Value) -> Value:
    scale = program.choices.choice((None, None, 1.0, 3.7, 2.0**12))
    scalar = float(program.choices.randint(-5, 5)) if scale == 1.0 else program.scalar()
    product = program.engine.multiply_scalar(a.ciphertext, scalar, scale=scale)
    return Value(product, a.clear * scalar)


def to_depth(method: str) -> Callable[[Program, Value], Value]:
    def apply(program: Program, a: Value) -> Value:
        depth = program.choices.randint(a.ciphertext.depth, program.engine.config.max_depth)
        return Value(getattr(program.engine, method)(a.ciphertext, depth), a.clear)

    return apply


def reinterpret(program: Program, a: Value) -> Value:
    scale = a.ciphertext.scale * program.choices.choice((0.5, 0.7, 3.0))
    clear = a.clear * (a.ciphertext.scale / scale)
    return Value(program.engine.reinterpret_at_scale(a.ciphertext, scale), clear)


def assume(program: Program, a: Value) -> Value:
    bound = float(a.clear.abs().max()) * program.choices.choice((1.0, 1.5, 40.0)) or 2.0**-20
    return Value(program.engine.assume_message_bound(a.ciphertext, bound), a.clear)


OPERATIONS: dict[str, Callable[[Program, Value], Value]] = {
    "add": linear("add"),
    "subtract": linear("subtract"),
    "add_many": add_many,
    "multiply": multiply,
    "square": square,
    "product_and_rescale": product_and_rescale,
    "negate": unary("negate"),
    "conjugate": unary("conjugate"),
    "relinearize": relinearize,
    "rescale": unary("rescale_to_next_depth"),
    "to_ntt": unary("coefficient_domain_to_ntt_domain"),
    "to_coefficient": unary("ntt_domain_to_coefficient_domain"),
    "rotate": rotate,
    "rotate_many": rotate_many,
    "add_plaintext": add_plaintext,
    "multiply_plaintext": multiply_plaintext,
    "sum_plaintext_products": sum_plaintext_products,
    "add_scalar": add_scalar,
    "multiply_scalar": multiply_scalar,
    "mod_switch": to_depth("mod_switch_to_depth"),
    "align": to_depth("align_to_depth"),
    "reinterpret": reinterpret,
    "assume": assume,
}


def run(config: CkksConfig, *, programs: int, rows: int, seed: int) -> Counter[str]:
    """Run programs on batches; every value on the way stays within both of its bounds."""
    engine = Engine(config)
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)
    engine.add_keys(engine.create_evaluation_keys(secret_key, steps=STEPS, conjugation=True))
    done: Counter[str] = Counter()
    closest = 0.0
    for index in range(programs):
        program = Program(engine, public_key, random.Random(f"{seed}/{index}"), rows)
        program.fresh()
        for _ in range(24):
            program.step()
            if len(program.pool) == 3:
                program.fresh()
            if len(program.pool) > 9:
                break
        error, slot = program.worst(secret_key)
        assert error <= 1, f"program {index}: an error is {error} times its bound"
        assert slot <= 1 + 2.0**-45, f"program {index}: a slot is {slot} times its bound"
        closest = max(closest, error)
        done += program.done
    assert closest > 2.0**-4  # bounds so loose would hold for anything
    return done


def test_bounds_hold_in_three_thousand_random_circuits() -> None:
    config = insecure_config(depth=3, scale_bits=30, N=256)
    done = run(config, programs=48, rows=64, seed=1)
    assert set(done) == set(OPERATIONS)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_bounds_hold_in_a_hundred_thousand_random_circuits() -> None:
    small, larger = (insecure_config(depth=3, scale_bits=30, N=N) for N in (256, 1024))
    done = run(small, programs=400, rows=250, seed=2) + run(larger, programs=32, rows=32, seed=3)
    assert min(done[name] for name in OPERATIONS) > 20
