"""Output of commands into pipes and on terminals."""

import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rankery.cli
from rankery.cli.datasets import _findings_summary
from rankery.cli.jobs import ending
from rankery.cli.measures import baselines_table, leaderboard
from rankery.cli.paper_tables import report_tables
from rankery.cli.printing import facts, json_text, plain, say, show, show_text, table, titled
from rankery.cli.training_results import _datasets
from rankery.client.schemas.answers import Dataset
from rankery.client.views.job import CandidateView
from rankery.control_characters import visible
from tests.rankery.answers import dataset_document, job_of
from tests.rankery.cli.commands import run

# C0, DEL, C1 (0x9b begins a control sequence as ESC [ does), directional formatting, zero-width characters,
# and half of a surrogate pair.
CONTROL_CHARACTERS = (
    "\x00\x07\b\r\x1b\x7f\x85\x9b\u061c\u200b\u200d\u200f\u202e\u2060\u2066\u2069\ufeff\ud800\U000e0041"
)
ESCAPED_CHARACTERS = (
    r"\u0000\u0007\u0008\u000d\u001b\u007f\u0085\u009b\u061c\u200b\u200d\u200f\u202e\u2060\u2066\u2069\ufeff\ud800"
    r"\udb40\udc41"
)


def test_a_full_disk_under_the_output_is_reported_in_one_sentence() -> None:
    """A file on a full disk ends the command with one sentence on standard error, not a traceback."""
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "rankery", "--version"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == 1
    assert ended.stderr == "rankery: the output cannot be written: No space left on device\n"


def test_the_error_that_ends_a_service_is_critical_in_its_log(tmp_path: Path) -> None:
    """Alerts on the level of messages find it; other printed lines are warnings."""
    command = [sys.executable, "-P", "-m", "rankery", "api", "--data-dir", str(tmp_path)]
    variables = {"RANKERY_LOG_FORMAT": "json", "RANKERY_ENCRYPTION_KEYS": "short"}
    ended = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True)
    (line,) = map(json.loads, ended.stderr.splitlines())
    assert (ended.returncode, line["level"], line["logger"]) == (1, "critical", "rankery")
    assert line["event"].startswith("RANKERY_ENCRYPTION_KEYS: must be keys of 32 bytes")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_as_the_null_device(closed: str, tmp_path: Path) -> None:
    """Services and scheduled commands may start with closed streams, which Python has as None."""
    assert run("keys", "create", "ci", "--scope", "read", "--data-dir", tmp_path).code == 0
    command = f"{sys.executable} -m rankery keys list --data-dir {tmp_path} {closed}"
    ended = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (" ci " in ended.stdout) == (">&-" not in closed)


def test_a_pipe_gets_lines_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines have no trailing spaces, and no line is split at a separator that only some programs know."""
    show()
    assert capsys.readouterr().out == ""
    show(facts([("name", "one\u2028line"), ("longer", "than the other one")]), "a sentence", "")
    assert capsys.readouterr().out == ("name    one\u2028line\nlonger  than the other one\na sentence\n\n")


def test_control_characters_are_written_out_wherever_they_are_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control characters are escaped in sentences, cells, headings and standard error."""
    monkeypatch.delenv("COLUMNS", raising=False)  # pytest-xdist sets it, and cells would be cut
    text = f"Zürich {CONTROL_CHARACTERS} 東京"
    cells = table(text, "count", right=("count",))
    cells.add_row(text, "1")
    show(text, facts([("name", text)]), titled(text, cells))
    say(f"{text}\nsecond line")
    printed = capsys.readouterr()
    assert printed.out.count(f"Zürich {ESCAPED_CHARACTERS} 東京") == 5
    assert printed.err == f"rankery: Zürich {ESCAPED_CHARACTERS} 東京\\u000asecond line\n"
    assert not {char for char in printed.out + printed.err if unicodedata.category(char) in ("Cc", "Cf")} - {
        "\n"
    }


def test_numbers_are_whole_in_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Texts are truncated before numbers, and a table of numbers is wider than the terminal."""
    monkeypatch.setenv("COLUMNS", "30")
    numbers = ("change", "interval", "age")
    mixed, wide = table("model", *numbers, right=numbers), table(*numbers, right=numbers)
    mixed.add_row("a-model-with-a-long-name", "+0.0884", "+0.06, +0.12", "19s")
    wide.add_row("+0.0884", "+0.0675189, +0.1117189", "19s")
    show(mixed, titled("wide", wide))
    printed = capsys.readouterr().out
    assert re.search(r"^ a.*…  \+0\.0884  \+0\.06, \+0\.12  19s$", printed, re.MULTILINE), printed
    assert "\n +0.0884  +0.0675189, +0.1117189  19s\n" in printed


def test_names_are_printed_without_markup_and_emoji(capsys: pytest.CaptureFixture[str]) -> None:
    """Names are one line, and neither markup nor emoji."""
    show(plain("[red]:bus:[/red]\n\tsecond line"))
    assert capsys.readouterr().out == "[red]:bus:[/red]\\u000a\\u0009second line\n"


def test_a_failed_job_without_a_problem_ends_in_its_status() -> None:
    """The reason is omitted where the service gives none."""
    assert ending(job_of(status="failed")) == "job_1 failed"  # type: ignore[arg-type]
    failed = job_of(status="failed", problem={"title": "Failed", "detail": "line 3"})
    assert ending(failed) == "job_1 failed: line 3"  # type: ignore[arg-type]


def test_one_warning_of_a_dataset_is_counted_in_the_singular() -> None:
    """The line below an uploaded dataset counts its findings by severity."""
    session: Any = SimpleNamespace(command=lambda command: f"rankery {command}")
    severities = ("warning", "info", "info")
    findings = [SimpleNamespace(severity=severity) for severity in severities]
    dataset: Any = SimpleNamespace(id="ds_1", findings=findings)
    assert _findings_summary(session, dataset) == "1 warning, 2 notes: rankery datasets doctor ds_1"


def test_json_is_the_same_document(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON output escapes control characters as JSON does."""
    document = {f"name {CONTROL_CHARACTERS}": [f"Zürich {CONTROL_CHARACTERS}\n\t"]}
    text = json_text(document)
    assert json.loads(text) == document
    assert visible(text) == text
    assert "Zürich" in text


def test_runs_are_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """A pipe gets identifiers unchanged."""
    show_text("q\x1b Q0 d 1 0.5 web\n")
    assert capsys.readouterr().out == "q\x1b Q0 d 1 0.5 web\n"


def test_control_characters_in_data_are_escaped(tmp_path: Path) -> None:
    """The doctor prints quoted data as plain characters, and only its own colours."""
    path = tmp_path / "judged.csv"
    query = "\x1b[2Jred\u202e"
    path.write_text("label,query_id,f1\n" + f"1,{query},1\n0,{query},1\n" * 3)
    terminal, end = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "rankery", "doctor", str(path)],
        stdout=end,
        stderr=end,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"},
    ) as process:
        os.close(end)
        printed = b""
        try:
            while chunk := os.read(terminal, 4096):
                printed += chunk
        except OSError:  # the terminal's other end is closed
            pass
    os.close(terminal)
    text = printed.decode()
    assert process.returncode in (0, 1)
    assert r"\u001b[2Jred\u202e" in text
    assert "\x1b[2J" not in text
    assert "\u202e" not in text
    assert "\x1b[" in text


@pytest.mark.parametrize(
    ("log", "codes"), [("clk_1", ["empty-documents"]), (None, ["one-label-dataset", "empty-documents"])]
)
def test_the_labels_of_a_log_s_features_are_not_reported(log: str | None, codes: list[str]) -> None:
    """A training on a click log has other labels than the dataset of its features."""
    counts = {"count": 1, "total": 1, "unit": "documents", "examples": [], "example_kind": "document"}
    findings = [
        {"code": code, "severity": "error", "title": code, "advice": "", **counts}
        for code in ("one-label-dataset", "empty-documents")
    ]
    dataset = Dataset.model_validate(dataset_document(findings=findings))
    client: Any = SimpleNamespace(client=SimpleNamespace(dataset=lambda _: dataset))
    clicks = {"log": log, "correction": "none"}
    job: Any = job_of(spec={"kind": "train", "dataset_id": "ds_1", "clicks": clicks})
    (found,) = _datasets(client, [job])
    assert [finding.code for finding in found.findings or ()] == codes


def test_everything_is_printed_in_one_place() -> None:
    """All commands print through one module, which escapes control characters."""
    modules = [path for path in Path(rankery.cli.__file__).parent.glob("*.py") if path.name != "printing.py"]
    assert len(modules) > 20
    printing = re.compile(r"\b(?:typer\.echo|print|sys\.std(?:out|err)|Console)\(")
    names = {path.name for path in modules if printing.search(path.read_text())}
    assert names == {"__init__.py", "completion.py"}  # the version, and words that the shell reads


def test_a_leaderboard_is_readable_in_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In 80 columns names and reasons wrap, and nothing is truncated; unmeasured candidates share a line."""
    monkeypatch.setenv("COLUMNS", "80")
    candidate = {
        "number": 0,
        "name": "linear by lambdarank, rank-gauss",
        "loss": {"name": "lambdarank"},
        "scorer": {"kind": "linear"},
        "status": "out-of-time",
        "reason": "the time budget was used up",
        "value": 0.8805,
        "interval": [0.8663, 0.8912],
        "folds": 5,
        "planned_folds": 5,
        "seconds": 16.6,
        "weight": 0.27,
        "tied_with_best": True,
    }
    untried = candidate | {"status": "not-tried", "value": None, "interval": None, "weight": 0.0}
    others = [CandidateView.model_validate(untried | {"name": name}) for name in ("stumps", "larger net")]
    show(leaderboard([CandidateView.model_validate(candidate), *others], "ndcg@10"))
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "0.8663 to 0.8912" in printed
    assert "…" not in printed
    assert printed.endswith("not-tried: the time budget was used up (stumps, larger net)\n")


def test_the_best_single_feature_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The details of the baselines follow their table."""
    means = {"ndcg@10": {"mean": 0.5}}
    details = {"random": "seed 42", "best single feature": "bm25, highest first"}
    show(
        baselines_table([{"name": name, "detail": text, "metrics": means} for name, text in details.items()])
    )
    assert "random: seed 42; best single feature: bm25, highest first" in capsys.readouterr().out


def test_a_report_of_an_experiment_shows_both_ends_of_an_interval(capsys: pytest.CaptureFixture[str]) -> None:
    """They are at unequal distances from the mean."""
    cell = {"row": "ListNet", "column": "NDCG@5", "ours": 95.77, "lower": 69.51, "upper": 100.0, "mark": "*"}
    cell |= {"printed": None, "difference": None, "missing": None, "deviations": []}
    shown: dict[str, Any] = {
        "name": "table-1",
        "caption": "NDCG",
        "unit": "percent",
        "rows": ["ListNet"],
        "cells": [cell],
    }
    shown |= {"columns": ["NDCG@5"], "test": None, "claims": [], "deviations": []}
    for part in report_tables({"notes": [], "tables": [shown]}):
        show(part)
    assert re.search(r"ListNet +95\.77\*\n +69\.51 to 100\.00\n", capsys.readouterr().out)
