"""``python -m fhelium profile``: this machine's times of every operation, for predictions."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--preset", default="slots8192_scale40_depth7_int64", show_default=True)
@click.option("--device", default="cpu", show_default=True, help="Where to compute.")
@click.option("--repetitions", default=5, show_default=True, type=click.IntRange(1, 1000))
def profile(file: Path, preset: str, device: str, repetitions: int) -> None:
    """Measure every operation of a preset and write the times to FILE as JSON.

    `Compilation.cost(MachineProfile.load(FILE))` predicts with them.
    """
    from fhelium.compile import measure_profile
    from fhelium.config import CkksConfig

    console = Console()
    with Progress(console=console, disable=not console.is_terminal) as bars:
        bar = bars.add_task("measure", total=None)
        found = measure_profile(
            CkksConfig.parse(preset),
            device=device,
            repetitions=repetitions,
            progress=lambda done, total: bars.update(bar, completed=done, total=total),
        )
    found.save(file)
    count = len(found.measurements)
    console.print(f"{count} times of {preset} on {found.device}, {found.threads} threads: {file}")
