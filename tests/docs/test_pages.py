"""What the pages say is so: their code runs, their files exist, their tables are fresh."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fhelium import CkksConfig, Engine, Preset
from tests.programs import run_python
from tools import generate_reference

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
SCRIPT = Path(generate_reference.__file__)


def blocks(page: str) -> str:
    """Join a page's Python blocks: a later one may use the names of an earlier one."""
    return "\n".join(separate_blocks(page))


def separate_blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


def test_the_quick_start_runs_and_is_short():
    quick_start, compiled = separate_blocks("README.md")
    assert len([line for line in quick_start.splitlines() if line.strip()]) <= 15
    shown = run_python(quick_start + compiled).splitlines()
    pattern = r"tensor\((.+), dtype=torch.float64\)"
    error, difference = (float(re.fullmatch(pattern, line)[1]) for line in shown)
    assert 0 < error < 2**-19
    assert difference == 0  # the compiled function gives what the calls above it gave


def test_the_parameter_page_runs():
    assert "log2(QP)" in run_python(blocks("docs/parameters.md"))


def test_the_page_of_files_runs():
    *description, error = run_python(blocks("docs/files.md")).splitlines()
    assert description[0].endswith("keys.fhelium: EvaluationKeys")
    assert float(re.fullmatch(r"tensor\((.+), dtype=torch.float64\)", error)[1]) < 2**-19


def test_the_bounds_page_runs():
    bound, held = run_python(blocks("docs/bounds.md")).splitlines()
    assert bound == "2.0"
    assert re.fullmatch(r"tensor\(True\) 2[12]\.\d+", held)


# How the last line begins that a page's code prints.
TOPICS = {
    "compile": "11",
    "compiler-from-scratch": "True",
    "keys": "tensor(1366.0",  # 4096 / 3, and the ends' share
    "levels": "True",
    "runtime": "True cpu True",
    "rotations": "tensor([-7.98",
    "implementations": "python-negate True",
    "plaintexts": "torch.Size([2]) torch.Size([2, 4096])",
}


@pytest.mark.parametrize("topic", TOPICS)
def test_the_topic_pages_run(topic):
    shown = run_python(blocks(f"docs/{topic}.md"))
    assert shown.splitlines()[-1].startswith(TOPICS[topic]), shown


def test_the_index_lists_every_page_and_example():
    text = (ROOT / "docs" / "index.md").read_text()
    linked = set(re.findall(r"\]\(([^)\s]+)\)", text))
    pages = {path.name for path in ROOT.glob("docs/*.md")} - {"index.md"}
    examples = {f"../examples/{path.name}" for path in ROOT.glob("examples/[0-9]*.py")}
    assert pages | examples <= linked
    assert "docs/index.md" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_to_files(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("https://", "#")):
            assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_files_that_a_page_names_exist(page):
    for name in re.findall(r"`((?:src|csrc|tools|tests)/[\w./]+)`", page.read_text()):
        assert (ROOT / name).exists(), name


def test_the_walk_names_what_stands_in_its_files():
    section = (ROOT / "README.md").read_text().partition("from the call to the kernel")[2]
    section = section.partition("The way back")[0]
    steps = re.split(r"^\d\. ", section, flags=re.M)[1:]
    assert len(steps) == 8
    for step in steps:
        names = re.findall(r"`([^`]+)`", step)
        files = [name for name in names if "/" in name]
        text = "".join((ROOT / name).read_text() for name in files)
        assert files, step
        for name in set(names) - set(files):
            assert name in text, f"{name} is not in {files}"


def test_the_security_page_gives_the_table_its_source():
    text = (ROOT / "SECURITY.md").read_text()
    for claim in ("10.62056/anxra69p1", "IND-CPA-D", "No integrity", "FHELIUM_REQUIRE_SECURE_RNG"):
        assert claim in text


def methods() -> list[str]:
    names = [name for name in dir(Engine) if not name.startswith("_") and name != "dispatcher"]
    return [name for name in names if callable(getattr(Engine, name))]


def test_the_reference_has_every_method():
    text = (ROOT / "docs" / "reference.md").read_text()
    headings = re.findall(r"^### (\w+)$", text, re.M)
    assert sorted(headings) == sorted(methods())
    assert len(headings) == len(set(headings))


def test_the_reference_says_what_an_operation_does():
    text = (ROOT / "docs" / "reference.md").read_text()
    entry = text.partition("### multiply\n")[2].partition("\n### ")[0]
    for part in (
        "multiply(\n    lhs: Ciphertext,\n    rhs: Ciphertext,\n    *,\n",
        "Multiply two ciphertexts slot by slot: (a0 b0, a0 b1 + a1 b0, a1 b1)",
        "- State: Depth and domain must agree",
        "- Cost: In the NTT domain no NTT.",
        "- Declared: `ckks.multiply` in `src/fhelium/ir/dialects/ckks/arithmetic.py`",
    ):
        assert part in entry


def test_generated_pages_are_fresh_and_a_stale_one_is_found(tmp_path):
    def check(root: Path) -> subprocess.CompletedProcess[str]:
        code = (
            "import pathlib, sys; from tools.generate_reference import main; "
            "sys.argv = ['generate_reference', '--check']; "
            f"sys.exit(main(pathlib.Path({str(root)!r})))"
        )
        return subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    fresh = check(ROOT)
    assert (fresh.returncode, fresh.stdout) == (0, ""), fresh.stdout + fresh.stderr
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    page = tmp_path / "docs" / "reference.md"
    page.write_text(page.read_text().replace("### add\n", "### plus\n"))
    stale = check(tmp_path)
    assert stale.returncode == 1
    assert stale.stdout == "stale: docs/reference.md. Run make generate.\n"


def test_the_preset_table_agrees_with_describe():
    text = (ROOT / "docs" / "parameters.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert [row[0].strip("`") for row in rows] == [preset.value for preset in Preset]
    for name, degree, modulus, special, alpha, dnum, ciphertext, key in rows:
        report = CkksConfig.parse(name.strip("`")).describe()
        bits, limit = modulus.split(" / ")
        for fact in (
            f"N = {degree},",
            f"{bits} of {limit} at security '128'",
            f"{special} special primes",
            f"alpha {alpha}, dnum {dnum}",
        ):
            assert fact in report
        assert re.search(rf"^ciphertext +{re.escape(ciphertext)} ", report, re.M)
        assert re.search(rf"^switching key +{re.escape(key)} ", report, re.M)
