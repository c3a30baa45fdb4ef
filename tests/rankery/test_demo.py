"""The demo's reader of the user's file, and the demo's output."""

import gzip
import io
from pathlib import Path

import pytest
from rich.console import Console

from rankery.client.schemas.answers import Interval
from rankery.demo.run import first_query
from rankery.demo.screen import Mean, Screen
from rankery.errors import UserError
from tests.rankery.answers import job_of

JUDGED = "# a comment\n2 qid:8 1:0.5 3:1.5 # docid = a\n\n0 qid:8 2:-1\n1 qid:9 1:3\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_the_first_query_is_read_in_the_models_order(tmp_path: Path, pack: type[bytes]) -> None:
    """Absent features are 0, and the second query is omitted."""
    path = tmp_path / "judged"
    path.write_bytes(pack(JUDGED.encode()))
    query = first_query(path, 3)
    assert query.id == "8"
    assert query.features == {"d1": [0.5, 0.0, 1.5], "d2": [0.0, -1.0, 0.0]}
    assert query.labels == {"d1": 2.0, "d2": 0.0}


def test_features_that_the_model_does_not_know_are_left_out(tmp_path: Path) -> None:
    """A test file may have more features than the training file."""
    path = tmp_path / "judged"
    path.write_text(JUDGED)
    assert first_query(path, 1).features == {"d1": [0.5], "d2": [0.0]}


def test_a_file_that_changed_meanwhile_is_reported_in_one_sentence(tmp_path: Path) -> None:
    """The service accepted the file, so a fault means that the file changed."""
    path = tmp_path / "judged"
    path.write_text("1 qid:1 one:2\n")
    with pytest.raises(UserError, match="judged cannot be read again"):
        first_query(path, 1)


def test_without_a_terminal_progress_is_plain_lines() -> None:
    """A log file gets whole lines with iteration, validation NDCG@10 and remaining time."""
    output = io.StringIO()
    screen = Screen(Console(file=output, width=200))
    running = job_of(
        status="running",
        progress={"phase": "training", "iteration": 5, "total": 100, "eta_seconds": 9.6},
        metrics={"validation": {"ndcg@10": 0.45678}},
    )
    with screen.training("lambdarank") as show:
        show(job_of())
        show(running)
        show(running.model_copy(update={"status": "succeeded"}))
    assert output.getvalue().splitlines() == [
        "rankery lambdarank: iteration 5 of 100, validation NDCG@10 0.4568, 10 s left",
        "rankery lambdarank: iteration 5 of 100, validation NDCG@10 0.4568, done",
    ]


def test_on_a_terminal_progress_is_a_bar() -> None:
    """The bar shows the metric, and that the training is done."""
    output = io.StringIO()
    screen = Screen(Console(file=output, width=120, force_terminal=True))
    with screen.training("lambdarank") as show:
        show(
            job_of(
                status="succeeded",
                progress={"phase": "finished", "iteration": 40, "total": 100, "eta_seconds": None},
                metrics={"validation": {"ndcg@10": 0.5}},
            )
        )
    assert "validation NDCG@10 0.5000, done" in output.getvalue()


def test_the_losses_are_side_by_side_with_their_intervals() -> None:
    """The table has means, intervals if known, and undefined metrics."""
    output = io.StringIO()
    summaries: dict[str, dict[str, Mean]] = {
        "lambdarank": {"ndcg@1": Interval(mean=0.5, lower=0.4, upper=0.6)},
        "ndcg-loss2++": {"ndcg@1": Interval(mean=0.25)},
        "mse": {"ndcg@1": Interval(mean=None)},
    }
    Screen(Console(file=output, width=120)).compare(summaries, ["ndcg@1"], "test [1].txt")
    text = output.getvalue()
    assert "test [1].txt" in text
    assert "0.5000 [0.4000, 0.6000]" in text
    assert "0.2500" in text
    assert "undefined" in text
