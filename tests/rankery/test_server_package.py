"""Folders and modules in the working directory with the names of the server's packages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rankery.embedded.stack import EmbeddedStack

pytestmark = pytest.mark.long

SCRIPT = str(Path(sys.executable).with_name("rankery"))
DOCTOR = ("doctor", "judged.csv")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's project folder, with judged data and packages that have the names of the server's packages."""
    (tmp_path / "judged.csv").write_text("query,label,bm25\n" + "a,1,0.5\na,0,0.25\n" * 20)
    for name in ("app", "core", "worker"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('imported')")
    return tmp_path


def run(folder: Path, *command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a folder, in which Python searches for modules by default."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return subprocess.run(
        command, cwd=folder, env={**own, **environment}, capture_output=True, text=True, timeout=120
    )


def test_the_command_ignores_the_working_directory(project: Path) -> None:
    """`rankery` works in a folder that has packages of the same names."""
    done = run(project, SCRIPT, *DOCTOR)
    assert "judged.csv" in done.stdout, done.stderr
    assert "imported" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "command",
    [DOCTOR, ("serve", "--port", "0"), ("api",), ("worker",), ("keys", "list")],
    ids=lambda command: command[0],
)
def test_a_package_that_hides_ours_is_named(project: Path, command: tuple[str, ...]) -> None:
    """`python -m rankery` refuses a hiding package in the working directory, and does not import it."""
    done = run(project, sys.executable, "-m", "rankery", *command)
    assert done.returncode == 1
    assert done.stderr.startswith(f"rankery: {project}/app hides Rankery's package `app`: rename it"), done
    assert not (project / "rankery-data").exists()


@pytest.mark.parametrize("package", ["app", "worker"])
def test_a_server_that_imports_our_package_names_a_hiding_module(tmp_path: Path, package: str) -> None:
    """`uvicorn` and `celery` import `app` and `worker` themselves, with the working directory on the path."""
    (tmp_path / "core.py").touch()
    done = run(tmp_path, sys.executable, "-c", f"import {package}")
    assert f"{tmp_path}/core.py hides Rankery's package `core`" in done.stderr


def test_a_folder_without_init_is_named_where_python_takes_it_for_a_package(tmp_path: Path) -> None:
    """Python finds such a folder before an editable installation, but not before an installed wheel."""
    (tmp_path / "core").mkdir()
    search = "import importlib.util as u, sys; print(u.find_spec('core').origin is None, flush=True)\n"
    create_key = (
        "sys.argv = ['rankery', 'keys', 'create', 'laptop', '--scope', 'read']\n"
        "from rankery.cli import app; app()"
    )
    done = run(tmp_path, sys.executable, "-c", search + create_key)
    hides = f"{tmp_path}/core hides Rankery's package `core`" in done.stderr
    assert hides == done.stdout.startswith("True"), done
    assert hides == (done.returncode == 1), done


@pytest.mark.slow
def test_the_processes_of_a_service_ignore_the_working_directory(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """API, worker, broker and their tethers start in a folder that has packages of the same names."""
    monkeypatch.chdir(project)
    with EmbeddedStack(project / "data") as stack:
        stack.check()
        assert set(stack.processes) == {"broker", "api", "worker"}


def test_python_path_is_searched(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The command finds a package on PYTHONPATH first and prints an error with its path."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    done = run(elsewhere, SCRIPT, "doctor", f"{project}/judged.csv", PYTHONPATH=str(project))
    assert done.returncode == 1
    assert f"{project}/app hides Rankery's package `app`" in done.stderr
    assert "PYTHONPATH" in done.stderr
