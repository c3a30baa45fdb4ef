"""The client without the server and optional packages, as after `pip install rankery`."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENT_PACKAGES = (
    *(
        "annotated_doc",
        "annotated_types",
        "anyio",
        "certifi",
        "h11",
        "httpcore",
        "httpx",
        "idna",
        "markdown_it",
    ),
    *("mdurl", "pydantic", "pydantic_core", "pygments", "rich", "shellingham", "typer", "typing_inspection"),
)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `rankery` and its required packages only."""
    folder = tmp_path_factory.mktemp("alone")
    installed = Path(sysconfig.get_path("purelib"))
    for name in CLIENT_PACKAGES:
        (folder / name).symlink_to(installed / name)
    (folder / "typing_extensions.py").symlink_to(installed / "typing_extensions.py")
    (folder / "rankery").symlink_to(ROOT / "rankery")
    return folder


def python(alone: Path, code: str) -> "subprocess.CompletedProcess[str]":
    """Run code that can import only the folder and the standard library."""
    lines = f"import sys; sys.path.append({str(alone)!r})\n{code}"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", lines], capture_output=True, text=True, check=False, cwd=alone
    )


COMMANDS = {
    "serve": "",
    "demo": "",
    "jobs list": "give the URL of a running service with --url or RANKERY_URL; to run one here, ",
    "api": "",
    "worker": "",
    "keys list": "",
    "doctor judged.txt": "",
    "doctor --storage": "",
    "evaluate --qrels judged.txt --run judged.txt": "",
}
_RUN_ALL = """
import json
from typer.testing import CliRunner
from rankery.cli import app
found = {}
for words in COMMANDS:
    result = CliRunner().invoke(app, words.split())
    found[words] = (result.exit_code, result.stderr)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def results_by_command(alone: Path) -> dict[str, tuple[int, str]]:
    """Exit code and standard error of each command, by its words."""
    (alone / "judged.txt").write_text("1 qid:1 1:0.5\n")
    done = python(alone, f"COMMANDS = {list(COMMANDS)!r}\n{_RUN_ALL}")
    results: dict[str, tuple[int, str]] = json.loads(done.stdout)
    return results


def test_the_client_needs_nothing_else(alone: Path) -> None:
    """A client can be created with only the packages of the list."""
    done = python(alone, "import rankery; print(rankery.Client('http://127.0.0.1:1').train.__name__)")
    assert (done.stdout, done.stderr) == ("train\n", "")


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_of_the_server_name_its_installation(
    alone: Path, results_by_command: dict[str, tuple[int, str]], words: str
) -> None:
    """The command prints one sentence without a traceback and writes no file."""
    code, errors = results_by_command[words]
    sentence = f"rankery: {COMMANDS[words]}this needs the server of Rankery: pip install rankery-server"
    assert (code, " ".join(errors.split())) == (1, sentence)
    assert not (alone / "rankery-data").exists()


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("client.upload_arrays([[0.5]], labels=[1], query_sizes=[1])", "numpy is not installed: {arrow}"),
        ("importance.to_arrow()", "numpy is not installed: {arrow}"),
        ("importance.plot()", "plotly is not installed: {notebook}"),
    ],
)
def test_an_optional_package_is_named_with_its_extra(alone: Path, code: str, sentence: str) -> None:
    """Data frames, arrays and figures raise an error that names the extra to install."""
    lines = (
        "import rankery",
        "from rankery.client.views.inspection import Importance",
        "client = rankery.Client('http://127.0.0.1:1')",
        "importance = Importance.model_construct(model_id='mdl_1', features=[])",
        code,
    )
    extras = {extra: f"pip install 'rankery[{extra}]'" for extra in ("arrow", "notebook")}
    last = python(alone, "\n".join(lines)).stderr.splitlines()[-1]
    assert last == f"rankery.errors.PackageMissing: {sentence.format(**extras)}"
