"""DecryptPolicy: what a decryption may reveal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fhelium.errors import OperandTypeError, ParameterError


@dataclass(frozen=True)
class DecryptPolicy:
    """Choose between the guarded decryption and the raw one.

    A raw CKKS decryption carries the encryption noise, and one exact result given away is enough
    to recover the secret key. The default therefore covers the noise with fresh noise of the same
    size, drawn so that one ciphertext always gives one answer.

    Example:
        >>> DecryptPolicy.private().kind
        'private'

    Source:
        Li, Micciancio (EUROCRYPT 2021), "On the security of homomorphic encryption on approximate
        numbers".
    """

    kind: Literal["guarded", "private"] = "guarded"

    def __post_init__(self) -> None:
        if self.kind not in ("guarded", "private"):
            raise ParameterError(
                "DecryptPolicy",
                f"kind is {self.kind!r}",
                "A policy is 'guarded' or 'private'",
                "Use DecryptPolicy.guarded() or DecryptPolicy.private()",
            )

    @classmethod
    def guarded(cls) -> DecryptPolicy:
        """Return the default: noise of the tracked size covers the exact result."""
        return cls("guarded")

    @classmethod
    def private(cls) -> DecryptPolicy:
        """Return the raw decryption, for a key's owner who shows the result to nobody."""
        return cls("private")


def require_policy(operation: str, policy: object) -> None:
    """Refuse what is neither a policy nor None, before anything is decrypted."""
    if policy is not None and not isinstance(policy, DecryptPolicy):
        raise OperandTypeError(
            operation,
            f"policy is a {type(policy).__name__}, needed is a DecryptPolicy",
            "A policy says what a decryption may reveal",
            "Pass DecryptPolicy.private(), or leave it out",
        )
