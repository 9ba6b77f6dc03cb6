"""Sealing a secret key with a passphrase: scrypt makes a key of it, AES-256-GCM uses that."""

from __future__ import annotations

import os
import unicodedata
from typing import Final

from fhelium.errors import PassphraseError
from fhelium.serialization.manifest import Seal

TAG_BYTES: Final = 16
_COST: Final = 1 << 17


def new_seal() -> Seal:
    """Return a seal with fresh salt and nonce from the operating system.

    Example:
        >>> new_seal().cost, new_seal().salt == new_seal().salt
        (131072, False)
    """
    return Seal(salt=os.urandom(16), nonce=os.urandom(12), cost=_COST)


def seal(plain: bytes, passphrase: str | bytes, how: Seal, manifest: str) -> bytes:
    """Encrypt and authenticate bytes; the manifest is authenticated with them.

    Cost: scrypt, about half a second and 128 MiB.

    Args:
        plain: What to seal.
        passphrase: Text, normalised to NFC and UTF-8, or bytes.
        how: Fresh salt and nonce; each seal is used once.
        manifest: The manifest's text.

    Returns:
        The ciphertext and its 16-byte tag.

    Raises:
        PassphraseError: The passphrase is empty or neither text nor bytes.

    Source: C. Percival, S. Josefsson, RFC 7914 (scrypt); NIST SP 800-38D (GCM).

    Example:
        >>> how = new_seal()
        >>> sealed = seal(b"secret", "correct horse", how, "{}")
        >>> unseal(sealed, "correct horse", how, "{}")
        b'secret'
    """
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key = _derive(_passphrase_bytes(passphrase, "save_value"), how)
    return AESGCM(key).encrypt(how.nonce, plain, manifest.encode("ascii"))


def unseal(sealed: bytes, passphrase: str | bytes, how: Seal, manifest: str) -> bytes:
    """Undo `seal`."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    key = _derive(_passphrase_bytes(passphrase, "load_value"), how)
    try:
        return AESGCM(key).decrypt(how.nonce, sealed, manifest.encode("ascii"))
    except InvalidTag:
        raise PassphraseError(
            "load_value",
            "the passphrase does not open this file",
            "A sealed secret key opens with the passphrase it was saved with",
            "Try again; if the passphrase is right, the file was changed on purpose",
        ) from None


def _derive(passphrase: bytes, how: Seal) -> bytes:
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    return Scrypt(salt=how.salt, length=32, n=how.cost, r=8, p=1).derive(passphrase)


def _passphrase_bytes(passphrase: object, operation: str) -> bytes:
    if isinstance(passphrase, str):
        # One text, typed on two systems, may come as different code points.
        passphrase = unicodedata.normalize("NFC", passphrase).encode("utf-8", "surrogatepass")
    if not isinstance(passphrase, bytes) or not passphrase:
        found = "empty" if passphrase == b"" else f"a {type(passphrase).__name__}"
        raise PassphraseError(
            operation,
            f"the passphrase is {found}",
            "A passphrase is a text or bytes, and not empty",
            "Pass a long one that is used for nothing else",
        )
    return passphrase
