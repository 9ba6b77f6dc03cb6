"""Values, keys and parameters as files: save, inspect, load, and what is refused.

Files hold no code: reading one never runs anything. Each is written whole or not at all.
"""

import tempfile
from pathlib import Path

import torch

from fhelium import Engine, inspect_value, load_value, save_value
from fhelium.errors import ContextMismatchError, FileFormatError, SecretExposureError

engine = Engine("slots4096_scale40_depth2_int64")
secret_key = engine.create_secret_key()
public_key = engine.create_public_key(secret_key)
keys = engine.create_evaluation_keys(secret_key, steps=[1])
message = torch.linspace(-1, 1, 4096, dtype=torch.float64)
x = engine.encrypt_message(message, public_key, output_domain="ntt")

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)

# ---- Save ----------------------------------------------------------------------------------------

# Of a key the file holds one half: the other is random, and expanded from a seed when it is loaded.
for name, value in (
    ("parameters", engine.config),
    ("public", public_key),
    ("keys", keys),
    ("x", x),
):
    save_value(value, folder / f"{name}.fhelium")
    size = (folder / f"{name}.fhelium").stat().st_size
    print(f"{name + '.fhelium':20} {size / 1024:8.1f} KiB")

# A secret key has to be asked for by name. A passphrase seals it; only its owner may read the file.
secret = folder / "secret.fhelium"
try:
    save_value(secret_key, secret)
except SecretExposureError as error:
    print("refused:", error.rule)
save_value(secret_key, secret, allow_secret_key=True, passphrase="correct horse battery")
print(f"{secret.name:20} permissions {secret.stat().st_mode & 0o777:o}")

# ---- Inspect: what a file holds, without its tensors and without the passphrase ------------------

print(inspect_value(folder / "keys.fhelium", verify=True))
print("secret key sealed:", inspect_value(secret).sealed)

# ---- Load ----------------------------------------------------------------------------------------

# As another program would: parameters first, then values that must belong to them.
config = load_value(folder / "parameters.fhelium")
other = Engine(config)
other.add_keys(load_value(folder / "keys.fhelium", config=config))
moved = other.rotate_by_step(load_value(folder / "x.fhelium", config=config), 1)
opened = load_value(secret, config=config, passphrase="correct horse battery")
error = other.decrypt_message(moved, opened, real=True) - message.roll(1)
print(f"computed with what was loaded, error {error.abs().max():.1e}")

# ---- What is refused -----------------------------------------------------------------------------

damaged = bytearray((folder / "x.fhelium").read_bytes())
damaged[-1000] ^= 1
(folder / "damaged.fhelium").write_bytes(damaged)
try:
    load_value(folder / "damaged.fhelium")
except FileFormatError as error:
    print("refused:", error.rule)

elsewhere = Engine("slots8192_scale40_depth7_int64").config
try:
    load_value(folder / "x.fhelium", config=elsewhere)
except ContextMismatchError as error:
    print("refused:", error.rule)

temporary.cleanup()
