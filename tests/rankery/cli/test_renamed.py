"""Old names of commands."""

import pytest
from typer.main import get_command

from rankery.cli import app
from rankery.cli.commands import SPELLINGS, renamed
from tests.rankery.cli.commands import all_commands, run

ROOT = get_command(app)
COMMANDS = {name: tuple(getattr(one, "commands", ())) for name, one in ROOT.commands.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize("old", SPELLINGS)
def test_an_old_spelling_runs_the_new_command(old: str) -> None:
    """An old name has the help of the new command, and prints the new name on standard error."""
    done = run(*old.replace("*", "1").split(), "--help", COLUMNS="300", NO_COLOR="1")
    if old in COMMANDS:  # its help is that of the command group
        done = run(old, "--json", "--url", "nonsense")
        assert done.sentence.startswith("'nonsense' is not the URL of a service")
    else:
        assert done.code == 0
        assert f" rankery {SPELLINGS[old]} [OPTIONS]" in done.output.replace("root", "rankery")
    assert done.errors.splitlines()[0].endswith(f"is now `rankery {SPELLINGS[old]}`")


def test_new_spellings_are_commands() -> None:
    """The help lists each new name and no old one."""
    commands = set(all_commands())
    assert {tuple(new.split()) for new in SPELLINGS.values()} <= commands
    assert not {tuple(old.split()) for old in SPELLINGS} & commands


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("delete --yes models --name web --older-than 0", "models delete --yes --name web --older-than 0"),
        ("delete jobs --job-kind=train", "jobs delete --kind=train"),
        ("label jobs --job-kind train --set a=b", "jobs label --kind train --set a=b"),
        ("tags --set a=b job_1", "jobs label --set a=b job_1"),
        ("tags web:1", "models label web:1"),
        ("describe train.txt --name May --dataset", "datasets describe train.txt --name May"),
        ("describe ds_1 --project shop", "datasets describe ds_1 --project shop"),
        ("inspect web --dataset test.txt", "models inspect web --dataset test.txt"),
        ("events", "events list"),
        ("events -f", "events list -f"),
        ("projects --json", "projects list --json"),
    ],
)
def test_other_arguments_are_unchanged(old: str, new: str) -> None:
    """Words of the old name are removed at any position, and ids stay."""
    assert renamed(old.split(), COMMANDS)[0] == new.split()


@pytest.mark.parametrize(
    "line", ["", "--help", "events list", "events --help", "models show history", "rank tags x"]
)
def test_other_spellings_are_unchanged(line: str) -> None:
    """Other commands are unchanged, also if a name equals an old command."""
    assert renamed(line.split(), COMMANDS) == (line.split(), None)


def test_a_removed_family_of_commands_is_an_error_with_the_new_spellings() -> None:
    """A removed command group exits as an invalid command line does."""
    done = run("delete", "--help", COLUMNS="300")
    assert done.code == 2
    assert "`rankery delete` is now `rankery jobs delete`, `rankery models delete`" in done.errors


def test_no_old_spelling_is_offered() -> None:
    """Completion and help list only current commands."""
    done = run(_RANKERY_COMPLETE="complete_bash", COMP_WORDS="rankery d", COMP_CWORD="1")
    assert done.output.split() == ["demo", "doctor", "datasets", "drift"]
    done = run("--help", COLUMNS="80", NO_COLOR="1")
    assert len(done.output.splitlines()) <= 75
    assert " delete KIND" not in done.output
