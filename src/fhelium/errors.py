"""The exception tree: every error says what was found, what the rule is, and what to do."""

from __future__ import annotations

import sys
import warnings
from typing import Any


class FHEliumError(Exception):
    """Base class of every error that FHElium raises on purpose.

    The text reads ``<operation>: <fact with both values>. <rule>. <remedy>.`` and each part is an
    attribute, so a program can act on an error without parsing it. Key and message data never
    appear in any part.

    Args:
        operation: Name of the public operation that refused, for example ``"add"``.
        fact: What was found, with both values where two disagree. Left out only where an error is
            made anew of its whole text, as torch's DataLoader does with a worker's error.
        rule: What the operation needs.
        remedy: What the caller can do about it.
        **fields: Further facts as attributes, for example ``depths=(0, 2)``.

    Example:
        >>> error = StateError("add", "depths are 0 and 2", "Depths must agree", "Align first")
        >>> str(error)
        'add: depths are 0 and 2. Depths must agree. Align first.'
        >>> error.operation
        'add'
    """

    def __init__(
        self, operation: str, fact: str = "", rule: str = "", remedy: str = "", **fields: Any
    ) -> None:
        self.operation = operation
        self.fact = fact
        self.rule = rule
        self.remedy = remedy
        self.fields = fields
        super().__init__(_text(operation, fact, rule, remedy))

    def __getattr__(self, name: str) -> Any:
        # Only reached for names that normal lookup does not find: the extra fields.
        fields = self.__dict__.get("fields", {})
        if name in fields:
            return fields[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions cross process borders (workers, test runners) with all their parts.
        return _rebuild, (
            type(self),
            self.operation,
            self.fact,
            self.rule,
            self.remedy,
            self.fields,
        )


def warn(category: type[Warning], operation: str, fact: str, rule: str, remedy: str) -> None:
    """Warn in the words of an error, at the line outside this package that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back and f"{frame.f_globals.get('__name__')}.".startswith("fhelium."):
        level, frame = level + 1, frame.f_back
    warnings.warn(_text(operation, fact, rule, remedy), category, stacklevel=level)


def _text(operation: str, *parts: str) -> str:
    sentences = " ".join(f"{part.rstrip('.')}." for part in parts if part)
    return f"{operation}: {sentences}" if sentences else operation


def _rebuild(
    kind: type[FHEliumError],
    operation: str,
    fact: str,
    rule: str,
    remedy: str,
    fields: dict[str, Any],
) -> FHEliumError:
    return kind(operation, fact, rule, remedy, **fields)


class ParameterError(FHEliumError, ValueError):
    """CKKS parameters break a rule of the scheme or of this library."""


class InsecureParametersError(ParameterError):
    """Parameters exceed the security table and the caller did not allow that."""


class OperandTypeError(FHEliumError, TypeError):
    """An operand is not the kind of value the operation takes."""


class StateError(FHEliumError, ValueError):
    """Operands are in a state the operation does not accept."""


class ContextMismatchError(StateError):
    """Operands belong to different parameter sets."""


class KeyMismatchError(StateError):
    """Operands, or an operand and a key, belong to different secret keys."""


class DeviceMismatchError(StateError):
    """Operands live on different devices; nothing is moved unasked."""


class DepthExhaustedError(StateError):
    """No prime is left to drop."""


class BoundError(FHEliumError, ArithmeticError):
    """A value's tracked bounds do not fit its modulus, so decryption could be garbage."""


class MissingKeyError(FHEliumError, LookupError):
    """An evaluation key was needed that the engine does not hold."""


class MessageValueError(FHEliumError, ValueError):
    """A clear message has a value or shape that cannot be encoded."""


class MessageTypeError(FHEliumError, TypeError):
    """A clear message has a type that cannot be encoded."""


class DecryptionError(FHEliumError, ArithmeticError):
    """A decrypted polynomial cannot be the message it claims to be."""


class ReleaseError(FHEliumError, ValueError):
    """A result may not be released: its circuit's queries are used up, or too few bits stay."""


class SecretExposureError(FHEliumError, TypeError):
    """An action would copy secret key material somewhere it must not go."""


class RandomnessError(FHEliumError, RuntimeError):
    """Randomness cannot be drawn safely in this process."""


class RecordingError(FHEliumError, RuntimeError):
    """A call that reads on the host was made while device work is recorded for replay."""


class NativeError(FHEliumError, RuntimeError):
    """The compiled operators cannot be used in this environment."""


class InsufficientMemoryError(FHEliumError, MemoryError):
    """What was asked for would not fit into the memory that is available."""


class ImplementationError(FHEliumError, LookupError):
    """No implementation, or more than one, matches an operation."""


class CompileError(FHEliumError):
    """A Program cannot be made, transformed or linked."""


class CompileInputError(CompileError, ValueError):
    """The inputs named for a compilation are not those of the function."""


class CaptureError(CompileError, ValueError):
    """A function does something that no operation stands for; the text gives the source line."""


class ProgramError(CompileError, ValueError):
    """A Program's text or structure breaks a rule of the IR."""


class PassError(CompileError, ValueError):
    """A pass cannot do its work on a Program; the text names the operation."""


class LinkError(CompileError, LookupError):
    """A Program cannot be linked: an operation is abstract, or a material is not bound."""


class PythonCodegenError(CompileError, ValueError):
    """An operation cannot be written as Python; the text gives its index and name."""


class ExecutionError(FHEliumError, RuntimeError):
    """A linked Program or a captured graph cannot give its results."""


class ExecutionInputError(ExecutionError, ValueError):
    """An execution's inputs are not those it was prepared for."""


class CudaGraphInputError(ExecutionInputError):
    """A replay's inputs, or the copy it is to wait for, are not those of the captured program."""


class CudaGraphCaptureError(ExecutionError):
    """A callable cannot be captured; ``stage`` and ``function_name`` say where, its cause why."""


class FileFormatError(FHEliumError, ValueError):
    """A file is damaged, forged, of a newer format, or no file of this library at all."""


class FileAccessError(FHEliumError, OSError):
    """A file cannot be read or written, or must not be.

    ``errno`` is that of the operating system where it has one, so ``except OSError`` code works.
    """

    def __init__(
        self, operation: str, fact: str = "", rule: str = "", remedy: str = "", **fields: Any
    ) -> None:
        super().__init__(operation, fact, rule, remedy, **fields)
        self.errno = fields.get("errno")  # OSError has one of its own, which hides the field


class PassphraseError(FHEliumError, ValueError):
    """A sealed file was opened with a wrong passphrase or none, or a passphrase has no use."""


class InsecureWarning(UserWarning):
    """Something insecure was asked for by name: small parameters or seeded randomness."""


class DecryptionWarning(UserWarning):
    """Many distinct decryptions were made with one secret key object."""
