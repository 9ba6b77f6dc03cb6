"""No malformed file is accepted, and each is refused at once, in words, without taking memory."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import fhelium
from fhelium.errors import FHEliumError
from tests.serialization.corpus import CORPUS

SECONDS = 1.0  # of the processor, so that a busy machine does not count
PATIENCE = 20.0  # by the clock: nothing waits


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_it_is_refused_in_words(case, sources, tmp_path):
    path = case.make(sources, tmp_path)
    start, begun = time.process_time(), time.perf_counter()
    with pytest.raises(case.error, match=case.says) as caught:
        fhelium.load_value(path, **case.options)
    assert time.process_time() - start < SECONDS
    assert time.perf_counter() - begun < PATIENCE
    text = str(caught.value)
    assert text.startswith("load_value: ")
    assert isinstance(caught.value, FHEliumError)
    assert type(caught.value) is case.error
    assert caught.value.remedy
    assert text.isascii()
    assert text.isprintable()
    assert len(text) < 2000


@pytest.mark.parametrize("case", CORPUS, ids=lambda case: case.name)
def test_inspection_refuses_what_the_header_shows(case, sources, tmp_path):
    path = case.make(sources, tmp_path)
    start, begun = time.process_time(), time.perf_counter()
    if case.inspect:
        with pytest.raises(case.error, match=case.says):
            fhelium.inspect_value(path)
    else:
        info = fhelium.inspect_value(path)
        assert not info.digest_verified
        assert str(info).startswith(f"{path}: ")
    assert time.process_time() - start < SECONDS
    assert time.perf_counter() - begun < PATIENCE


def test_the_corpus_is_large_and_its_names_differ():
    names = [case.name for case in CORPUS]
    assert len(names) == len(set(names))
    assert len(names) >= 40


def test_nothing_ran():
    assert not Path("pickle-was-run").exists()
