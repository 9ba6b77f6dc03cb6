"""All malformed files, each with a name: what is wrong, and what a reader must say."""

from __future__ import annotations

# Each module registers its own files.
from tests.serialization import corpus_form, corpus_keys, corpus_manifest, corpus_other
from tests.serialization.corpus_base import CORPUS, PASSPHRASE, Malformed, Sources

__all__ = [
    "CORPUS",
    "PASSPHRASE",
    "Malformed",
    "Sources",
    "corpus_form",
    "corpus_keys",
    "corpus_manifest",
    "corpus_other",
]
