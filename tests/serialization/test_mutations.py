"""Generated damage and forgery: none of it is accepted."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest

import fhelium
from fhelium.errors import FHEliumError
from tests.programs import run_python
from tests.serialization.corpus import CORPUS, PASSPHRASE, Sources
from tests.serialization.forge import Parts, frame, signed, spell, with_word

DAMAGED = 300
FORGED = 300
KINDS = (
    "ciphertext",
    "batch",
    "seeded",
    "plaintext",
    "secret",
    "sealed",
    "public",
    "rotation",
    "keys",
)
SECONDS = 1.0  # of the processor, so that a busy machine does not count


def damaged(raw: bytes, draw: random.Random) -> bytes:
    """Change bytes as disks, networks and editors do."""
    data = bytearray(raw)
    a, b = sorted(draw.randrange(len(raw) + 1) for _ in range(2))
    b = min(b, a + 200)
    match draw.randrange(8):
        case 0:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        case 1:
            data[draw.randrange(8 + int.from_bytes(raw[:8], "little"))] = draw.randrange(256)
        case 2:
            del data[a:]
        case 3:
            del data[a:b]
        case 4:
            data[a:a] = draw.randbytes(b - a + 1)
        case 5:
            data[a:b] = bytes(b - a)
        case 6:
            data[a:a] = data[a:b] or b"x"
        case 7:
            data[a:b] = data[a:b][::-1]
    return bytes(data)


def leaves(node: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every place in JSON objects, inner ones too, with what stands there."""
    yield way, node
    if isinstance(node, dict | list):
        for name, inner in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(inner, (*way, name))


def set_at(node: Any, way: tuple[Any, ...], value: Any) -> Any:
    """Return the objects with another value at one place."""
    if not way:
        return value
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[way[0]] = set_at(copy[way[0]], way[1:], value)
    return copy


# A value of another JSON type is never a legal one, except where null stands for "unknown".
STRANGERS = (True, -1, 2.5, "?", [], {}, [[0]], {"?": 0})


def forged(raw: bytes, draw: random.Random) -> bytes:
    """Change what a file says, to something that no value has, under a right digest."""
    parts = Parts.of(raw)
    match draw.randrange(5):
        case 0 | 1:
            way, old = draw.choice(list(leaves(parts.manifest)))
            new = draw.choice([s for s in STRANGERS if type(s) is not type(old) or s == {"?": 0}])
            if old is None and isinstance(new, float | str):
                new = []
            parts.manifest = set_at(parts.manifest, way, new)
        case 2:
            objects = [(w, n) for w, n in leaves(parts.manifest) if isinstance(n, dict) and n]
            way, node = draw.choice(objects)
            name = draw.choice(sorted(node))
            without = {k: v for k, v in node.items() if k != name}
            new = draw.choice([without, {**without, name + "_": node[name]}, {**node, "?": None}])
            parts.manifest = set_at(parts.manifest, way, new)
        case 3:
            header = parts.header()
            places = [w for w, _ in leaves(header) if w and w[0] != "__metadata__"]
            way = draw.choice(places)
            new = draw.choice([draw.randrange(-(2**70), 2**70), None, "I64", [1, 2], {"a": 1}])
            return signed(frame(spell(set_at(header, way, new)).encode(), parts.payload()))
        case 4:
            name = draw.choice(sorted(parts.tensors))
            data = parts.tensors[name]
            if parts.table[name]["dtype"] == "I64":
                wrong = draw.choice([-1, -(2**63), 2**62, 2**63 - 1, draw.randrange(2**50, 2**63)])
                parts.tensors[name] = with_word(data, draw.randrange(len(data) // 8), wrong)
            else:
                place = draw.randrange(len(data))
                byte = bytes([draw.randrange(2, 255)])
                parts.tensors[name] = data[:place] + byte + data[place + 1 :]
    return parts.raw()


def changes(sources: Sources, make: Any, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield kinds and changed files; the same ones in every run, but for the keys in them."""
    draw = random.Random(f"{make.__name__}")
    made = 0
    while made < count:
        kind = KINDS[made % len(KINDS)]
        changed = make(sources[kind], draw)
        if changed != sources[kind]:
            made += 1
            yield kind, changed


@pytest.mark.parametrize(("make", "count"), [(damaged, DAMAGED), (forged, FORGED)])
def test_none_is_accepted(make, count, sources, tmp_path):
    path = tmp_path / "file"
    texts = set()
    for kind, raw in changes(sources, make, count):
        path.write_bytes(raw)
        path.chmod(0o600)
        passphrase = PASSPHRASE if kind == "sealed" else None
        start = time.process_time()
        try:
            loaded = fhelium.load_value(path, passphrase=passphrase)
        except FHEliumError as error:
            text = str(error)
        else:
            pytest.fail(f"{kind}: accepted as {loaded!r}")
        assert time.process_time() - start < SECONDS, kind
        assert text.startswith("load_value: "), text
        assert text.isprintable(), text
        assert len(text) < 2000, text
        texts.add(text)
        try:
            fhelium.inspect_value(path)
        except FHEliumError:
            continue
    # The damage reaches many different checks, not one that hides the others.
    assert len(texts) > 15


def test_the_whole_corpus_takes_no_memory(sources, tmp_path):
    """A process whose address space ends 300 MiB above what it has refuses every file."""
    listed = []
    for number, case in enumerate(CORPUS):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = case.make(sources, folder)
        if "\0" not in str(path):
            listed.append({"name": case.name, "path": str(path), "options": dict(case.options)})
    for number, (kind, raw) in enumerate(changes(sources, forged, 100)):
        path = tmp_path / f"forged{number}"
        path.write_bytes(raw)
        path.chmod(0o600)
        listed.append({"name": f"forged {kind}", "path": str(path), "options": {}})
    good = tmp_path / "good"
    good.write_bytes(sources["secret"])
    good.chmod(0o600)
    (tmp_path / "list").write_text(json.dumps([str(good), listed]))
    program = f"""
        import json, pathlib, resource, time, warnings
        warnings.simplefilter("ignore")
        import fhelium
        good, listed = json.loads(pathlib.Path({str(tmp_path / "list")!r}).read_text())
        fhelium.load_value(good)
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + 300 * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        slowest = 0.0
        for case in listed:
            start = time.process_time()
            try:
                fhelium.load_value(case["path"], **case["options"])
            except fhelium.errors.FHEliumError:
                slowest = max(slowest, time.process_time() - start)
            else:
                raise SystemExit("accepted: " + case["name"])
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(len(listed), slowest, (after - before) / 1024)
    """
    count, slowest, grown = run_python(program).split()
    assert int(count) > 300
    assert float(slowest) < SECONDS
    # scrypt takes 128 MiB where a passphrase is tried; nothing takes more.
    assert float(grown) < 160
