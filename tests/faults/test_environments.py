"""The whole story runs in other surroundings: locales, umask, optimised Python, no home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STORY = "tests/test_tiny.py"


def run_story(*options: str, story: str = STORY, **surroundings) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *options, "-m", "pytest", "-q", "-p", "no:cacheprovider", story],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        **surroundings,
    )


def assert_passed(result: subprocess.CompletedProcess) -> None:
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed" in result.stdout


def environment(**changes: str | None) -> dict[str, str]:
    merged = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


C_LOCALE = {"LC_ALL": "C", "LANG": None, "PYTHONUTF8": "0"}
NO_HOME = dict.fromkeys(("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "TMPDIR"))


def test_in_all_of_them_at_once():
    surroundings = environment(**C_LOCALE, **NO_HOME)
    assert_passed(run_story("-O", umask=0, env=surroundings))


def test_where_a_comma_is_the_decimal_point(tmp_path):
    """Python leaves the C library's number format alone unless a program asks for the user's."""
    found = _german(tmp_path)
    plugin = tmp_path / "german.py"
    plugin.write_text(
        "import locale\n"
        "locale.setlocale(locale.LC_ALL, '')\n"
        "assert locale.localeconv()['decimal_point'] == ','\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    surroundings = environment(PYTHONPATH=path, PYTEST_PLUGINS="german", **found)
    assert_passed(run_story(env=surroundings))


def _german(folder: Path) -> dict[str, str]:
    """Return the variables of a German locale: an installed one, or one compiled here."""
    listed = shutil.which("locale") and subprocess.run(
        ["locale", "-a"], capture_output=True, text=True, check=False
    )
    for name in listed.stdout.split() if listed else []:
        if name.lower().startswith("de_de"):
            return {"LC_ALL": name}
    if not shutil.which("localedef") or not Path("/usr/share/i18n/locales/de_DE").exists():
        pytest.skip("no German locale, and no sources to make one of")
    command = ["localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"]
    subprocess.run(command, capture_output=True, check=False)
    return {"LC_ALL": "de_DE.UTF-8", "LOCPATH": str(folder)}


def test_optimised_python_still_sees_a_failing_test(tmp_path):
    """pytest rewrites a test's assertions, so they hold where Python drops those of the product."""
    false = tmp_path / "test_false.py"
    false.write_text("def test_false():\n    assert 1 + 1 == 3\n")
    result = run_story("-O", story=str(false), env=environment())
    assert result.returncode == 1
    assert "1 failed" in result.stdout


@pytest.mark.slow
def test_in_the_c_locale():
    assert_passed(run_story(env=environment(**C_LOCALE)))


@pytest.mark.slow
def test_under_umask_0():
    assert_passed(run_story(umask=0, env=environment()))


@pytest.mark.slow
def test_without_assertions():
    assert_passed(run_story("-O", env=environment()))


@pytest.mark.slow
def test_without_a_home():
    assert_passed(run_story(env=environment(**NO_HOME)))
