"""Client and server in two processes that talk over a socket.

    python 08_client_server.py            starts both, on this machine
    python 08_client_server.py server     waits for one client and prints its port
    python 08_client_server.py client PORT

The client has patients' measurements and the secret key. The server has a model and learns neither
the measurements nor its own answers. Messages are files of fhelium.save_value, each after its kind
and length. There is no encryption of the channel and nobody is authenticated: on a real network
put TLS underneath. Needs scikit-learn.
"""

import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

from fhelium import CkksConfig, Engine, inspect_value, load_value, save_value
from fhelium.errors import FHEliumError

TIMEOUT = 60.0  # seconds for one whole message of the other side
HEADER = struct.Struct(">4sQ")  # kind and length of a message
LIMITS = {b"KEYS": 32 << 20, b"DATA": 4 << 20, b"DONE": 4 << 20, b"FAIL": 1 << 10}
HOLDS = {b"KEYS": "EvaluationKeys", b"DATA": "Ciphertext", b"DONE": "Ciphertext"}
BLOCK = 16  # slots of one patient: ten measurements and six zeros
STEPS = [-1, -2, -4, -8]  # the rotations of a sum over 16 slots
UNIT = 200  # the progression is computed in units of this, which brings it near 1

config = CkksConfig.parse("slots4096_scale40_depth2_int64")
patients, progression = load_diabetes(return_X_y=True)
training, tested = slice(0, 242), slice(242, 442)
largest = np.abs(patients).max()


class ProtocolError(Exception):
    """The other side did not keep to the protocol, or said what went wrong there."""


# ---- Messages ------------------------------------------------------------------------------------


def send_value(connection, kind, value):
    """Send a value as kind, length and file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "value")
        save_value(value, path)
        connection.sendall(HEADER.pack(kind, path.stat().st_size))
        with path.open("rb") as file:
            connection.sendfile(file)


def send_failure(connection, text):
    """Say in one line why there will be no result."""
    line = text.encode()[: LIMITS[b"FAIL"]]
    connection.sendall(HEADER.pack(b"FAIL", len(line)) + line)
    connection.shutdown(socket.SHUT_WR)
    # What is on its way is read and dropped: a connection closed before would lose the line.
    deadline, left = time.monotonic() + TIMEOUT, sum(LIMITS.values())
    while left > 0 and (part := receive_some(connection, left, deadline)):
        left -= len(part)


def receive_some(connection, most, deadline):
    """Return the next bytes, none at the end; a slow sender gets no more than its time."""
    connection.settimeout(max(deadline - time.monotonic(), 1e-3))
    return connection.recv(min(most, 1 << 20))


def receive_exactly(connection, count, deadline):
    """Return a number of bytes, which the limits keep small enough for memory."""
    parts = bytearray()
    while len(parts) < count:
        part = receive_some(connection, count - len(parts), deadline)
        if not part:
            raise ProtocolError(f"the connection ended {count - len(parts)} bytes too early")
        parts += part
    return bytes(parts)


def receive_value(connection, kind):
    """Receive a value of one kind; length and type are checked before anything is loaded."""
    deadline = time.monotonic() + TIMEOUT
    found, length = HEADER.unpack(receive_exactly(connection, HEADER.size, deadline))
    if found not in (kind, b"FAIL"):
        raise ProtocolError(f"expected {kind!r}, received {found!r}")
    if length > LIMITS[found]:
        raise ProtocolError(f"{found!r} of {length} bytes, allowed are {LIMITS[found]}")
    content = receive_exactly(connection, length, deadline)
    if found == b"FAIL":
        raise ProtocolError(f"the other side: {content.decode(errors='replace')}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "value")
        path.write_bytes(content)
        held = inspect_value(path).type_name
        if held != HOLDS[kind]:
            raise ProtocolError(f"{kind!r} holds a {held}, not a {HOLDS[kind]}")
        return load_value(path, config=config)


# ---- Server --------------------------------------------------------------------------------------


def predict(engine, x, model):
    """Return weights x + bias for each patient, in the first slot of a block."""
    block = np.zeros(BLOCK)
    block[: len(model.coef_)] = model.coef_ * largest / UNIT
    weights = engine.prepare_plaintext(np.tile(block, config.num_slots // BLOCK), like=x)
    products = engine.multiply_plaintext_and_rescale(x, weights)
    return engine.add_scalar(engine.sum_slots(products, size=BLOCK), model.intercept_ / UNIT)


def serve():
    """Answer one client; the model is trained before anybody is let in."""
    model = Ridge(alpha=0.1).fit(patients[training], progression[training])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        listener.settimeout(TIMEOUT)
        connection, _ = listener.accept()
    with connection:
        try:
            engine = Engine(config)
            engine.add_keys(receive_value(connection, b"KEYS"))
            result = predict(engine, receive_value(connection, b"DATA"), model)
        except (FHEliumError, ProtocolError) as error:
            send_failure(connection, str(error))
            return f"refused a client: {error}"
        send_value(connection, b"DONE", result)
    return None


# ---- Client --------------------------------------------------------------------------------------


def ask(find_port):
    """Have the tested patients' progression predicted by a server that cannot read them."""
    engine = Engine(config)
    secret_key = engine.create_secret_key()
    public_key = engine.create_public_key(secret_key)
    keys = engine.create_evaluation_keys(secret_key, steps=STEPS)

    blocks = np.zeros((config.num_slots // BLOCK, BLOCK))
    blocks[: len(patients[tested]), :10] = patients[tested] / largest
    x = engine.encrypt_message(blocks.reshape(-1), public_key, output_domain="ntt")

    with socket.create_connection(("127.0.0.1", find_port()), timeout=TIMEOUT) as connection:
        send_value(connection, b"KEYS", keys)
        send_value(connection, b"DATA", x)
        result = receive_value(connection, b"DONE")
    print("received:", result)

    found = UNIT * engine.decrypt_message(result, secret_key, real=True)[::BLOCK].numpy()
    found = found[: len(patients[tested])]
    correlation = np.corrcoef(found, progression[tested])[0, 1]
    print(f"{len(found)} predictions, correlation with the truth {correlation:.2f}")
    model = Ridge(alpha=0.1).fit(patients[training], progression[training])
    worst = np.abs(found - model.predict(patients[tested])).max()
    print(f"largest difference to the model in the clear: {worst:.1e}")


def both():
    """Start a server process, ask it, and see that it ends well."""
    command = [sys.executable, __file__, "server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            ask(lambda: int(server.stdout.readline() or 0))  # 0: it ended before it listened
            return server.wait(TIMEOUT)
        finally:
            server.kill()


def main(arguments):
    """Play the sides that the arguments name; a failure is one line and exit status 1."""
    try:
        if arguments == ["server"]:
            return serve()
        if len(arguments) == 2 and arguments[0] == "client" and arguments[1].isdecimal():
            return ask(lambda: int(arguments[1]))
        return both() if not arguments else __doc__
    except (FHEliumError, ProtocolError, OSError, subprocess.TimeoutExpired) as error:
        return f"failed: {error}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
