"""The tables of CONTRIBUTING: tests, folders and layers."""

import re
import subprocess
import tomllib
from pathlib import Path

from tests.requirements import require_program

ROOT = Path(__file__).parents[1]
_NAMED = re.compile(r"`([^`]+)`")
_SLOW = re.compile(r"\bmark\.slow\b")


def _column(number: int) -> set[str]:
    """Return the files, folders and make targets in a column of the table."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text.partition("| rule |")[2].partition("\n\n")[0]
    return {name for row in table.splitlines()[2:] for name in _NAMED.findall(row.split("|")[number])}


SHORT, LONG = _column(2), _column(3)


def test_all_entries_of_the_table_exist() -> None:
    """All files, folders and make targets in the table exist."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert SHORT
    assert LONG
    for name in SHORT | LONG:
        target = name.removeprefix("make ")
        assert target in targets if name.startswith("make ") else (ROOT / name).exists(), name


def test_every_slow_test_is_in_the_table() -> None:
    """The table has the file of each slow test, or a folder around it."""
    slow = [path for path in (ROOT / "tests").rglob("*.py") if _SLOW.search(path.read_text())]
    assert slow
    for path in slow:
        names = {str(each.relative_to(ROOT)) for each in (path, *path.parents) if each.is_relative_to(ROOT)}
        assert names & LONG, path


def test_every_campaign_is_in_the_table() -> None:
    """The table names the campaigns that `make test-all` runs."""
    recipe = re.search(r"^test-all:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    calls = [line.split()[1:] for line in recipe[1].splitlines() if "$(MAKE)" in line]
    assert {f"make {name}" for names in calls for name in names} == {
        name for name in LONG if name.startswith("make ")
    }


def test_every_benchmark_is_in_the_table_of_the_guide() -> None:
    """Each `bench-…` target of the Makefile has a row, and each row has a target."""
    targets = set(re.findall(r"^(bench-[a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    assert set(re.findall(r"\| `(bench-[a-z-]+)` \|$", page, re.MULTILINE)) == targets


def test_every_folder_of_tests_is_in_the_table() -> None:
    """The table has each folder with tests, or a folder around it."""
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")} - {ROOT / "tests"}
    held = {ROOT / name for name in SHORT if name.startswith("tests/")}
    assert [each for each in folders if not any(each.is_relative_to(name) for name in held)] == []


def _rows() -> list[set[str]]:
    """Return the folders and modules of each row of the table of layers."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text.partition("| folder or module |")[2].partition("\n\n")[0]
    return [
        {name.rstrip("/") for name in _NAMED.findall(row.split("|")[1])} for row in table.splitlines()[2:]
    ]


def test_every_folder_is_in_the_table_of_layers() -> None:
    """The table has the top folders and those of the four packages, and all its entries exist."""
    listed = subprocess.run(
        [require_program("git", "git"), "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    parents = [Path(line).parents for line in listed.splitlines()]
    folders = {str(each[-2]) for each in parents if len(each) > 1}
    packages = {"app", "core", "rankery", "worker"}
    folders |= {str(each[-3]) for each in parents if len(each) > 2 and str(each[-2]) in packages}
    named = set().union(*_rows())
    assert folders - named == set()
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_rows_are_in_the_order_of_the_import_contracts() -> None:
    """Each layer of the features, the worker and the core is a row, from top to bottom."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    rows = [{name.removesuffix(".py").replace("/", ".") for name in row} for row in _rows()]
    for contract in (each for each in contracts if each["type"] == "layers"):
        layers = [set(re.split(r" \| ", layer)) for layer in contract["layers"]]
        layers = [layer for layer in layers if all(name.count(".") == 1 for name in layer)]
        assert [row for row in rows if row in layers] == layers, contract["name"]
