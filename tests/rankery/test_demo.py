"""The candidates and the output of the demo."""

import io

from rich.console import Console

from rankery.client import Query
from rankery.client.schemas.answers import Interval
from rankery.demo.run import candidates_of
from rankery.demo.screen import Mean, Screen
from tests.rankery.answers import job_of


def test_candidates_have_the_features_of_the_model() -> None:
    """Categories are texts, missing values are None, and features that the model lacks are left out."""
    query = Query.model_validate(
        {
            "query_id": "8",
            "columns": {},
            "total": 2,
            "offset": 0,
            "feature_names": ["bm25", "age", "brand"],
            "documents": [
                {"document_id": "a", "features": [0.5, 3.0, 1.0]},
                {"document_id": "b", "features": [None, 4.0, 0.0]},
            ],
            "categories": {"brand": {"0": "x", "1": "y"}},
        }
    )
    assert candidates_of(query, ["brand", "bm25"]) == [
        {"id": "a", "features": {"bm25": 0.5, "brand": "y"}},
        {"id": "b", "features": {"bm25": None, "brand": "x"}},
    ]


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
