"""Help, examples, JSON output and completion of every command."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from rankery.cli.commands import PANELS, ImportedCommands
from rankery.cli.completion import names_split_by_bash
from tests.rankery.cli.commands import all_commands, run

# Commands without --json: they run until they are stopped, or print no data that a program could read.
_PROBES = {("warm-up",), ("health", "api"), ("health", "worker")}
_WITHOUT_DATA = {("serve",), ("api",), ("worker",), ("rank-worker",), ("demo",), *_PROBES}


@pytest.mark.parametrize("command", list(all_commands()), ids=" ".join)
def test_every_command_has_help_with_an_example_and_json(command: tuple[str, ...]) -> None:
    """The example calls the command itself, and every option has a description."""
    done = run(*command, "--help", COLUMNS="300", NO_COLOR="1")
    assert done.code == 0
    examples = re.findall(r"Example: (.*)", done.output)
    assert examples
    assert all(f"rankery {' '.join(command)}" in example for example in examples)
    assert (" --json " in done.output) == (command not in _WITHOUT_DATA)
    undescribed = re.findall(r"│ +(?:\* +)?(--\S+)(?: +-\w)? +<[^>]*>(?: \[[^\]]*\])? +│", done.output)
    assert not undescribed


def test_the_help_lists_the_exit_codes() -> None:
    """Every exit code is explained, for scripts that run commands."""
    done = run("--help", COLUMNS="200")
    assert "0 done; 1 refused or failed" in done.output
    assert "3 the gate of an alias refused a version; 130 interrupted" in done.output


def test_the_listed_verbs_are_those_of_the_imported_commands() -> None:
    """The help lists all commands in their order, without an import of their modules."""
    commands = ImportedCommands()
    listed = {word: one.verbs for words in PANELS.values() for word, one in words.items()}
    assert listed == {word: tuple(getattr(one, "commands", ())) for word, one in commands.items()}


def test_the_help_imports_no_command() -> None:
    """Help does not import the commands, so that it is fast."""
    program = "import sys\nfrom rankery.cli import app\ntry: app(['--help'])\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = {f"rankery.cli.{one.module}" for words in PANELS.values() for one in words.values()}
    assert not modules & set(done.stdout.split())


def test_invalid_command_lines_exit_with_code_2() -> None:
    """The error of an unknown command or a missing option names the command whose help to read."""
    for arguments in (("train",), ("evaluate", "web"), ("compare", "web", "--dataset", "d"), ("jobs", "lst")):
        done = run(*arguments)
        assert done.code == 2
        assert done.output == ""
        assert f"Try 'rankery {arguments[0]}" in done.errors.replace("root", "rankery")


@pytest.mark.parametrize(
    ("typed", "name", "printed"),
    [
        (["my"], "my clicks (May)", r"my\ clicks\ \(May\)"),
        ([r"my\ cl"], "my clicks", r"my\ clicks"),
        (['"my cl'], "my clicks", "my clicks"),
        ([r"my\ clicks", ":", "v"], "my clicks:v 1", r"v\ 1"),
        (["nd"], "ndcg-loss2++", "ndcg-loss2++"),
    ],
)
def test_bash_gets_names_as_it_reads_them(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    typed: list[str],
    name: str,
    printed: str,
) -> None:
    """Blanks are escaped, unless they are within quotes; else bash would read several words."""
    words = ["rankery", *typed]
    monkeypatch.setenv("_RANKERY_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    with names_split_by_bash():
        typer.echo(name)
    assert capsys.readouterr().out == f"{printed}\n"


def test_bash_completes(tmp_path: Path) -> None:
    """The script that `--show-completion` prints works in bash, and prints nothing without a service."""
    script = """
        eval "$(rankery --show-completion bash)"
        completed() {
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _rankery_completion rankery "${COMP_WORDS[$COMP_CWORD]}" ""
            echo "${COMPREPLY[@]}"
        }
        completed rankery da
        completed rankery train x --loss ndcg-loss2
        completed rankery train x --loss = ndcg-loss2
        completed rankery export --format elastic
        completed rankery datasets show ""
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PATH": path, "RANKERY_DATA_DIR": str(tmp_path / "none")},
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "datasets",
        "ndcg-loss2 ndcg-loss2++",
        "ndcg-loss2 ndcg-loss2++",
        "elasticsearch-xgboost elastic-learning-to-rank elasticsearch-linear",
        "",
    ]
