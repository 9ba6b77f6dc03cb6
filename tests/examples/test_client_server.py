"""The socket example: two processes, and what each side does about a bad other one."""

from __future__ import annotations

import importlib.util
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from fhelium import Engine
from fhelium.errors import FileFormatError

PATH = Path(__file__).resolve().parents[2] / "examples" / "08_client_server.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("client_server", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def owner(example):
    engine = Engine(example.config)
    secret_key = engine.create_secret_key()
    return engine, secret_key, engine.create_public_key(secret_key)


@pytest.fixture
def pair():
    one, other = socket.socketpair()
    with one, other:
        one.settimeout(20)
        yield one, other


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(PATH), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_started_by_hand_agree():
    with start("server") as server:
        port = server.stdout.readline().strip()
        with start("client", port) as client:
            shown, problems = client.communicate(timeout=120)
            assert client.returncode == 0, problems
        assert server.wait(timeout=60) == 0
    assert "200 predictions, correlation with the truth 0.73" in shown
    worst = float(re.search(r"in the clear: (\S+)", shown)[1])
    assert 0 < worst < 1e-2


def test_a_server_says_why_it_refuses_and_ends():
    with start("server") as server:
        port = int(server.stdout.readline())
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(b"KEYS" + (1 << 40).to_bytes(8, "big") + bytes(1 << 20))
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while part := connection.recv(4096):
                answer += part
        assert answer[:4] == b"FAIL"
        assert b"of 1099511627776 bytes, allowed are" in answer
        assert server.wait(timeout=60) == 1
        problems = server.stderr.read()
    assert problems.startswith("refused a client: b'KEYS' of 1099511627776 bytes")
    assert len(problems.splitlines()) == 1


def test_a_client_without_a_server_fails_in_one_line():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with start("client", str(port)) as client:
        shown, problems = client.communicate(timeout=120)
    assert (client.returncode, shown) == (1, "")
    assert re.fullmatch(r"failed: .*refused\n", problems)


def test_a_value_comes_across_a_socket(example, owner, pair):
    engine, secret_key, public_key = owner
    message = np.linspace(-1, 1, 4096)
    x = engine.encrypt_message(message, public_key)
    sender = threading.Thread(target=example.send_value, args=(pair[0], b"DATA", x))
    sender.start()
    found = example.receive_value(pair[1], b"DATA")
    sender.join()
    error = engine.decrypt_message(found, secret_key, real=True).numpy() - message
    assert np.abs(error).max() < 1e-6


def test_another_kind_and_another_type_are_refused(example, owner, pair):
    engine, _, public_key = owner
    x = engine.encrypt_message(0.5, public_key)
    for value, kind, wanted, text in (
        (x, b"DATA", b"KEYS", "expected b'KEYS', received b'DATA'"),
        (public_key, b"DATA", b"DATA", "b'DATA' holds a PublicKey, not a Ciphertext"),
    ):
        one, other = socket.socketpair()
        with one, other:
            sender = threading.Thread(target=send_quietly, args=(example, one, kind, value))
            sender.start()
            with pytest.raises(example.ProtocolError, match=re.escape(text)):
                example.receive_value(other, wanted)
            other.close()
            sender.join()


def send_quietly(example, connection, kind, value):
    """Send to somebody who may hang up."""
    try:
        example.send_value(connection, kind, value)
    except OSError:
        connection.close()


def test_garbage_is_refused_by_the_file_checks(example, pair):
    pair[0].sendall(example.HEADER.pack(b"DATA", 100) + bytes(100))
    with pytest.raises(FileFormatError):
        example.receive_value(pair[1], b"DATA")


@pytest.mark.parametrize("sent", [b"", b"DATA", b"DATA" + bytes(7) + b"\x09" + b"12345678"])
def test_a_message_cut_short_is_refused(example, pair, sent):
    pair[0].sendall(sent)
    pair[0].close()
    with pytest.raises(example.ProtocolError, match="bytes too early"):
        example.receive_value(pair[1], b"DATA")


def test_a_slow_sender_gets_no_more_than_its_time(example, pair, monkeypatch):
    monkeypatch.setattr(example, "TIMEOUT", 0.3)
    stop = threading.Event()

    def trickle():
        pair[0].sendall(example.HEADER.pack(b"DATA", 1 << 20))
        while not stop.wait(0.05):
            pair[0].sendall(b"x")

    sender = threading.Thread(target=trickle)
    sender.start()
    try:
        with pytest.raises(TimeoutError):
            example.receive_value(pair[1], b"DATA")
    finally:
        stop.set()
        sender.join()


def test_a_failure_arrives_as_its_text(example, pair):
    sender = threading.Thread(target=example.send_failure, args=(pair[0], "no model" + "!" * 5000))
    sender.start()
    with pytest.raises(example.ProtocolError, match="the other side: no model!"):
        example.receive_value(pair[1], b"DONE")
    pair[1].close()
    sender.join()
