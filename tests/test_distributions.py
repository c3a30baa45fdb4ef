"""The two distributions: one version, and all needed files in each."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import rankery
from tools.check_platforms import resolution_fault

ROOT = Path(__file__).parents[1]


def project(folder: Path) -> dict[str, Any]:
    """Return the project table of a pyproject.toml."""
    described: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    return described


CLIENT, SERVER = project(ROOT), project(ROOT / "server")


def test_both_have_one_version() -> None:
    """The server requires the client of exactly its own version, and the client reports this version."""
    assert CLIENT["version"] == SERVER["version"] == rankery.__version__
    assert f"rankery=={CLIENT['version']}" in SERVER["dependencies"]
    for field in ("requires-python", "license", "license-files", "authors", "keywords"):
        assert CLIENT[field] == SERVER[field], field


def test_the_client_requires_little() -> None:
    """Arrays, frames and figures are extras, so the client's environment stays below 60 MB."""
    required = {re.split(r"[\[>=]", requirement)[0] for requirement in CLIENT["dependencies"]}
    assert required == {"httpx", "pydantic", "rich", "typer", "typing-extensions"}


@pytest.mark.parametrize("lock", ["installer", "service", "extras", "build"])
def test_the_lock_of_development_holds_the_others(lock: str) -> None:
    """No layer of `.venv` replaces a version that another layer needs."""
    pinned = _pinned_versions(lock)
    assert pinned
    assert pinned <= _pinned_versions("development")


def _pinned_versions(lock: str) -> set[str]:
    return set(re.findall(r"^\S+==\S+", (ROOT / "requirements" / f"{lock}.lock").read_text(), re.MULTILINE))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source archives, and the wheels that were built from them."""
    folder = tmp_path_factory.mktemp("dist")
    command = (sys.executable, "-P", "-m", "uv", "build", "--quiet", "--all-packages", "--no-build-isolation")
    subprocess.run([*command, "--python", sys.executable, "--out-dir", str(folder)], cwd=ROOT, check=True)
    return folder


@pytest.mark.long
def test_the_wheels_hold_every_module_once(built: Path, built_guide: Path) -> None:
    """The wheels have the generated client, the dashboard's files, the built guide and the licence, too."""
    wheels = {path.name.partition("-")[0]: path for path in built.glob("*.whl")}
    assert wheels.keys() == {"rankery", "rankery_server"}
    for name, packages in (("rankery", ("rankery",)), ("rankery_server", ("app", "core", "worker"))):
        held = set(zipfile.ZipFile(wheels[name]).namelist())
        expected = {str(path.relative_to(ROOT)) for package in packages for path in _files(ROOT / package)}
        about = {path for path in held if ".dist-info/" in path}
        assert held - about == expected
        assert any(path.endswith("/licenses/LICENSE") for path in about)


def _files(package: Path) -> list[Path]:
    """List the files that a package needs at run time."""
    suffixes = (".py", ".html", ".css", ".js", ".json", ".svg")
    site = package / "guide" / "site"
    files = [path for path in package.rglob("*") if path.is_file()]
    return [
        path for path in files if path.suffix in suffixes or path.name == "py.typed" or site in path.parents
    ]


@pytest.mark.long
def test_the_archives_pass_the_check_of_twine(built: Path) -> None:
    """`twine check` finds the metadata complete and the descriptions readable."""
    archives = sorted(map(str, built.glob("rankery*")))
    assert len(archives) == 4
    command = [sys.executable, "-P", "-m", "twine", "check", "--strict", *archives]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.long
@pytest.mark.slow  # `make check-platforms` checks all platforms
def test_the_lock_has_wheels_for_arm() -> None:
    """The lock has wheels for the newest Python; `make check-platforms` checks all versions and platforms."""
    fault = resolution_fault("3.14", "aarch64-unknown-linux-gnu")
    if fault and "error sending request" in fault and not os.environ.get("RANKERY_TEST_REQUIRE_ALL"):
        pytest.skip("the package index is out of reach: set UV_DEFAULT_INDEX to another one")
    assert fault is None
