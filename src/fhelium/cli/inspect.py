"""``python -m fhelium inspect``: what files hold."""

from __future__ import annotations

import sys
import warnings

import click

from fhelium.errors import FHEliumError, InsecureWarning


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--verify", is_flag=True, help="Read each whole file and compare its digest.")
def inspect(files: tuple[str, ...], verify: bool) -> None:
    """Print what FILES hold: type, parameters, key, state, tensors and sizes.

    Only headers are read, and no passphrase is needed. Exits with 1 when a file is refused.
    """
    from fhelium.serialization import inspect_value

    failed = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsecureWarning)  # the description says it
        for name in files:
            try:
                click.echo(str(inspect_value(name, verify=verify)))
            except FHEliumError as error:
                failed = True
                click.echo(f"fhelium: {error}", err=True)
    sys.exit(int(failed))
