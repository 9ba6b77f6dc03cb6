"""Time FHElium beside other CKKS libraries, interleaved, each in a process of its own.

    make bench-peers [PEERS="--rings 14,15,16 --rounds 7"]

Same ring, base, scale, depth and messages; every library at 128-bit security and with the memory
settings of all benchmarks. One thread first, pinned to a core, then two for the libraries that use
them. Every figure is at least 20 ms of calls; of one thread the median over rounds in which all
take turns, of two the best round, because a busy neighbour takes one of the cores.
Writes results.json, peers.md and peers.svg to a folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks import machine
from benchmarks.native import ROOT
from benchmarks.peers import tables
from benchmarks.peers.environments import MOST, OPENFHE

FOLDER = Path(__file__).resolve().parent
THREADS = {"fhelium": (1, 2), "tenseal": (1,), "desilofhe": (1, 2), "openfhe": (1, 2)}
PYTHONS = {
    "fhelium": sys.executable,
    "tenseal": str(MOST.python),
    "desilofhe": str(MOST.python),
    "openfhe": str(OPENFHE.python),
}


class Worker:
    """A library that answers with figures."""

    def __init__(self, library: str, log_degree: int, threads: int) -> None:
        own = library == "fhelium"
        path = f"{ROOT}:{os.environ.get('PYTHONPATH', '')}" if own else ""
        self.process = subprocess.Popen(
            [PYTHONS[library], str(FOLDER / "worker.py"), library, str(log_degree), str(threads)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": str(threads)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.input, self.output = self.process.stdin, self.process.stdout
        line = self.output.readline()
        if not line:
            raise RuntimeError(f"{library} at 2^{log_degree}: the worker ended, see above")
        self.about = json.loads(line)

    def ask(self, operation: str) -> dict[str, float]:
        print(operation, file=self.input, flush=True)
        return json.loads(self.output.readline())

    def stop(self) -> None:
        self.input.close()
        self.process.wait()


def measure(
    libraries: list[str], log_degree: int, threads: int, rounds: int
) -> list[dict[str, object]]:
    """Return one record for each library and operation, in milliseconds."""
    workers = [
        Worker(library, log_degree, threads)
        for library, counts in THREADS.items()
        if library in libraries and threads in counts
    ]
    operations = dict.fromkeys(name for worker in workers for name in worker.about["operations"])
    records = []
    for operation in operations:
        asked = [worker for worker in workers if operation in worker.about["operations"]]
        figures: list[list[dict[str, float]]] = [[] for _ in asked]
        for _ in range(rounds):
            for found, worker in zip(figures, asked, strict=True):
                found.append(worker.ask(operation))
        for found, worker in zip(figures, asked, strict=True):
            milliseconds = {
                clock: [round(figure[clock] * 1e3, 5) for figure in found]
                for clock in ("cpu", "wall")
            }
            record = {
                "library": worker.about["name"], "operation": operation,
                "log_degree": log_degree, "threads": threads,
                "error": worker.about["errors"].get(operation),
                "cpu_ms": median(milliseconds["cpu"]), "wall_ms": median(milliseconds["wall"]),
                "best_wall_ms": min(milliseconds["wall"]),
                "rounds": milliseconds,
            }  # fmt: skip
            records.append(record)
            print(
                f"2^{log_degree} {threads} {operation:32}{record['library']:24}"
                f"{record['cpu_ms']:10.3f}{record['wall_ms']:10.3f} ms",
                flush=True,
            )
    for worker in workers:
        worker.stop()
    return records


def main(arguments: list[str]) -> None:
    """Measure, and write the results, their tables and the plot."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rings", default="14,15,16", help="log2 of the ring degrees")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "peers-results")
    options = parser.parse_args(arguments)
    results: dict[str, object] = {
        "machine": machine.describe(),
        "command": "make bench-peers" + (f' PEERS="{" ".join(arguments)}"' if arguments else ""),
    }
    records: list[dict[str, object]] = []
    libraries = [name for name in THREADS if name != "openfhe" or OPENFHE.works()]
    for log_degree in map(int, options.rings.split(",")):
        for threads in map(int, options.threads.split(",")):
            records += measure(libraries, log_degree, threads, options.rounds)
    results["records"] = records
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "results.json"
    file.write_text(json.dumps(results, indent=1))
    (options.out / "peers.md").write_text(tables.page(results))
    drawing = [str(FOLDER / "plot.py"), str(file), str(options.out / "peers.svg")]
    subprocess.run([str(MOST.python), *drawing], check=True)
    print(f"written: {options.out}")
