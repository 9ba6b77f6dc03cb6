"""The rules every parameter set obeys; each refusal names what was found, the rule and a remedy."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NoReturn, SupportsFloat, SupportsIndex

from fhelium.config.chain import MIN_SPECIAL_MARGIN_BITS, digit_bits
from fhelium.config.primes import is_prime
from fhelium.config.words import WORDS
from fhelium.errors import ParameterError

MIN_DEGREE = 1 << 4
MAX_DEGREE = 1 << 17
MAX_LIMBS = 256
MAX_DIGIT_PRIMES = 16
MIN_HEADROOM_BITS = 9.9
SIGMA = 3.19
SECRETS = ("ternary",)
DTYPES = tuple(WORDS)


def refuse(
    fact: str, rule: str, remedy: str, /, operation: str = "CkksConfig", **fields: object
) -> NoReturn:
    """Raise a ParameterError."""
    raise ParameterError(operation, fact, rule, remedy, **fields)


def as_int(name: str, value: object, operation: str = "CkksConfig") -> int:
    """Return value as a Python int, and refuse anything that is not an integer, bool included."""
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        try:
            number = value.__index__()
        except (TypeError, ValueError):
            number = None  # an array or tensor that is not one integer
        if number is not None and number.bit_length() <= 64:
            return number
    return refuse(
        f"{name} is {_short(value)}, a {type(value).__name__}",
        f"{name} is an integer of at most 64 bits",
        f"Pass {name} as an int",
        operation,
        argument=name,
    )


def as_int_tuple(name: str, value: object) -> tuple[int, ...]:
    """Return a sequence of integers as a tuple of Python ints."""
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
        refuse(
            f"{name} is a {type(value).__name__}",
            f"{name} is a sequence of integers",
            f"Pass {name} as a tuple of ints",
        )
    return tuple(as_int(f"{name}[{index}]", item) for index, item in enumerate(value))


def as_float(name: str, value: object) -> float:
    """Return a real number as a Python float."""
    if isinstance(value, (SupportsFloat, SupportsIndex)) and not isinstance(value, (bool, str)):
        with suppress(TypeError, ValueError, OverflowError):
            return float(value)
    return refuse(
        f"{name} is {_short(value)}, a {type(value).__name__}",
        f"{name} is a real number that a float64 holds",
        f"Pass {name} as a float",
        argument=name,
    )


def as_bool(name: str, value: object) -> bool:
    """Return value when it is True or False, and refuse what merely looks like one."""
    if isinstance(value, bool):
        return value
    return refuse(
        f"{name} is {_short(value)}, a {type(value).__name__}",
        f"{name} is True or False",
        f"Pass {name} as a bool",
        argument=name,
    )


def check_degree(N: int, operation: str = "CkksConfig") -> None:
    """Refuse a ring degree that is not a power of two within the library's range."""
    if N & (N - 1) or not MIN_DEGREE <= N <= MAX_DEGREE:
        refuse(
            f"N is {N}",
            f"The ring degree is a power of two from {MIN_DEGREE} to {MAX_DEGREE}",
            "Use such an N; it carries N/2 slots",
            operation,
            N=N,
        )


def check_names(secret: str, sigma: float, dtype_name: str, operation: str = "CkksConfig") -> None:
    """Refuse a secret, noise or residue type that the library does not draw or compute with."""
    if secret not in SECRETS:
        refuse(
            f"secret is {secret!r} and the distributions are {', '.join(map(repr, SECRETS))}",
            "The security table holds for a uniform ternary secret",
            "Leave secret at its default",
            operation,
            secret=secret,
        )
    if sigma != SIGMA:
        refuse(
            f"sigma is {sigma!r} and the sampler draws {SIGMA}",
            "The error's standard deviation is fixed",
            "Leave sigma at its default",
            operation,
            sigma=sigma,
        )
    if dtype_name not in DTYPES:
        refuse(
            f"dtype_name is {dtype_name!r} and the residue dtypes are "
            f"{', '.join(map(repr, DTYPES))}",
            "Residues are stored in one of them",
            "Use one of these names",
            operation,
            dtype_name=dtype_name,
        )


def check_primes(
    N: int, q_primes: Sequence[int], p_primes: Sequence[int], dtype_name: str = "int64"
) -> None:
    """Refuse moduli that are no distinct proven primes q = 1 (mod 2N) of the residue type."""
    primes = (*q_primes, *p_primes)
    if not q_primes or not p_primes or len(primes) > MAX_LIMBS:
        refuse(
            f"there are {len(q_primes)} Q primes and {len(p_primes)} special primes",
            f"Each kind has at least one, and together they are at most {MAX_LIMBS}",
            "Let CkksConfig.create find the primes",
        )
    bits = WORDS[dtype_name].prime_bits
    seen: dict[int, int] = {}
    for index, prime in enumerate(primes):
        name = f"prime {index} (q_primes followed by p_primes) is {prime}"
        if not 2 < prime < 1 << bits:
            broken = f"Primes lie between 2 and 2^{bits} for {dtype_name} residues"
        elif prime % (2 * N) != 1:
            name += f", which is {prime % (2 * N)} (mod {2 * N})"
            broken = f"Every prime is 1 (mod 2N), and 2N is {2 * N}"
        elif prime in seen:
            name += f", and so is prime {seen[prime]}"
            broken = "Primes are distinct"
        elif not is_prime(prime):
            name += ", which is composite"
            broken = "Every modulus is a prime"
        else:
            seen[prime] = index
            continue
        refuse(name, broken, "Let CkksConfig.create find the primes", prime_id=index, prime=prime)


def check_shape(q_count: int, num_base_primes: int, alpha: int) -> None:
    """Refuse a number of base primes or a digit size that the chain cannot have."""
    for name, value in (("num_base_primes", num_base_primes), ("alpha", alpha)):
        if not 1 <= value <= q_count:
            refuse(
                f"{name} is {value} and there are {q_count} Q primes",
                f"{name} is from 1 to the number of Q primes",
                f"Use {name} from 1 to {q_count}",
                argument=name,
            )


def check_conversion_sizes(alpha: int, p_count: int) -> None:
    """Refuse digits or a special modulus of more primes than one exact basis conversion takes."""
    for name, value in (("alpha", alpha), ("the number of special primes", p_count)):
        if value > MAX_DIGIT_PRIMES:
            refuse(
                f"{name} is {value}",
                f"A digit and P have at most {MAX_DIGIT_PRIMES} primes each, the most that one "
                "exact basis conversion takes",
                "Use a smaller alpha, which also needs fewer special primes",
                argument=name,
            )


def check_scale(scale: float) -> None:
    """Refuse a default scale that is not a finite number of at least 1."""
    if not (math.isfinite(scale) and scale >= 1):
        refuse(
            f"default_scale is {scale!r}",
            "The scale is a finite number of at least 1",
            "Use a power of two such as 2.0**40",
            default_scale=scale,
        )


def check_headroom(scale: float, base_primes: Sequence[int], depth: int) -> None:
    """Refuse a base modulus that is less than 2^9.9 times the scale.

    Without that room a value of magnitude 1 would not survive decryption at the last depth.
    """
    base_bits, scale_bits = math.log2(math.prod(base_primes)), math.log2(scale)
    if base_bits - scale_bits < MIN_HEADROOM_BITS:
        refuse(
            f"the base modulus is 2^{base_bits:.2f} and the scale at depth {depth} is "
            f"2^{scale_bits:.2f}",
            f"The base is at least 2^{MIN_HEADROOM_BITS} times the scale, so that a value of "
            "magnitude 1 still decrypts at the last depth",
            f"Use a base of at least 2^{scale_bits + MIN_HEADROOM_BITS:.2f} or a smaller scale",
            base_bits=base_bits,
            scale_bits=scale_bits,
        )


def check_special_modulus(q_primes: Sequence[int], p_primes: Sequence[int], alpha: int) -> None:
    """Refuse special primes whose product P is less than 2^5.9 times the largest digit.

    With that much a key switch adds less noise than the rounding that ends it.
    """
    special_bits, largest = math.log2(math.prod(p_primes)), digit_bits(q_primes, alpha)
    if special_bits - largest < MIN_SPECIAL_MARGIN_BITS:
        refuse(
            f"P is 2^{special_bits:.2f} and the largest digit at alpha {alpha} is 2^{largest:.2f}",
            f"P is at least 2^{MIN_SPECIAL_MARGIN_BITS} times the largest digit, so that a key "
            "switch costs no precision",
            f"Use special primes with a product of at least "
            f"2^{largest + MIN_SPECIAL_MARGIN_BITS:.2f}, or a smaller alpha",
            special_bits=special_bits,
            digit_bits=largest,
        )


def _short(value: object) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # Python refuses to print integers of more than 4300 digits
        return "a huge number"
