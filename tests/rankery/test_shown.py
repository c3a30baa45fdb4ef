"""The client's objects as shown in terminals and notebooks."""

import io
from typing import Any

import httpx
import pytest
from rich.console import Console

from rankery.client import Client, Job, Study
from rankery.client.display.progress import jobs_progress
from rankery.client.listing import Listing
from rankery.client.views.inspection import Importance
from rankery.client.views.job import History
from rankery.client.views.lifecycle import RestoredView
from rankery.errors import DataUnusable
from tests.rankery.answers import job_document

CURVES = {"train": {"ndcg@10": [0.3, 0.4]}, "validation": {"loss": [0.9, 0.8], "ndcg@10": [0.25, None]}}
CONTINUATION = r" continues; client.{call}.wait\(\) waits again, client.{call}.cancel\(\) cancels it"
RUNNING: dict[str, Any] = {
    "status": "running",
    "progress": {"phase": "training", "iteration": 120, "total": 500, "eta_seconds": 41.4},
    "metrics": {"validation": {"loss": 0.7, "ndcg@5": 0.5, "ndcg@10": 0.45678}},
    "title": "<script>alert(1)</script>",
    "main_metric": {"name": "ndcg@10", "data": "validation", "value": 0.45678},
}


def job_of(**changes: Any) -> Job:
    """Return a job of a client."""
    return Job.of(job_document(**changes), Client("http://rankery.test").transport)


def terminal_text(shown: object) -> str:
    """Return the output in a terminal of 100 columns."""
    output = io.StringIO()
    Console(file=output, width=100).print(shown)
    return output.getvalue()


@pytest.mark.parametrize("shown", [job_of(**RUNNING), Listing([job_of(**RUNNING)])], ids=["card", "list"])
def test_a_name_is_text_wherever_it_is_shown(shown: Any) -> None:
    """Names are neither markup of rich nor HTML."""
    html = shown._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "alert(1)" in terminal_text(shown)
    bracketed = job_of(title="[red]web[/red]")
    assert "[red]web[/red]" in terminal_text(bracketed)


def test_a_job_has_a_short_repr_and_a_card() -> None:
    """The repr of a job fits in a log line, and its card has the metrics."""
    job = job_of(**RUNNING)
    assert repr(job).startswith("Job(id='job_1', kind='train', status='running'")
    assert "training 120 of 500, 41 s left" in terminal_text(job)
    assert "0.4568" in terminal_text(job)
    assert terminal_text(Listing([])) == "No objects.\n"


def test_a_distributed_training_shows_its_ranks() -> None:
    """Each rank has a line with its host, its data, and its share of waiting time."""
    rank = {
        "rank": 1,
        "host": "10.0.0.12",
        "queries": 3784,
        "documents": 453_120,
        "memory_bytes": 412_000_000,
        "waiting_share": 0.125,
        "stage": "histograms",
    }
    progress = RUNNING["progress"] | {"ranks": [rank, {"rank": 2, "host": "10.0.0.13"}], "restarts": 1}
    shown = terminal_text(job_of(**RUNNING | {"progress": progress}))
    assert "2 on 10.0.0.12, 10.0.0.13, restarted once" in shown
    (line,) = (line for line in shown.splitlines() if "histograms" in line)
    assert line.split() == ["1", "10.0.0.12", "3,784", "453,120", "412.0", "MB", "12%", "histograms"]
    assert "waiting" not in terminal_text(job_of(**RUNNING))


def test_a_progress_bar_is_not_drawn_into_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bar has iterations, the deciding metric and the remaining time; a file gets no bar."""
    monkeypatch.setenv("COLUMNS", "120")
    job = job_of(**RUNNING)
    with jobs_progress([job], None) as show:
        show(job)
    assert capsys.readouterr().err == ""
    with jobs_progress([job], True) as show:
        show(job)
    drawn = " ".join(capsys.readouterr().err.split())
    assert drawn.startswith("train <script>alert(1)</script> ━")
    assert drawn.endswith(" 120 of 500, validation ndcg@10 0.4568, 41 s left")


def test_a_bar_names_the_candidate_of_an_automatic_training(capsys: pytest.CaptureFixture[str]) -> None:
    """The bar names the candidate, since each phase tries a different one."""
    progress = {"phase": "trying linear by ranknet", "iteration": 7, "total": 65, "eta_seconds": 120.0}
    job = job_of(kind="auto-train", title="web", status="running", progress=progress)
    with jobs_progress([job], True) as show:
        show(job)
    assert "trying linear by ranknet, 7 of 65, 120 s left" in " ".join(capsys.readouterr().err.split())


def test_an_interrupted_wait_leaves_the_job_running() -> None:
    """The message has the calls that cancel the job and wait again."""
    with (
        pytest.raises(KeyboardInterrupt, match=CONTINUATION.format(call=r'job\("job_1"\)')),
        jobs_progress([job_of()], False),
    ):
        raise KeyboardInterrupt


def test_a_bar_counts_the_trials_of_a_study(capsys: pytest.CaptureFixture[str]) -> None:
    """The wait for a study draws the bar of trials on request, as other waits do."""
    counts = {"asked": 4, "queued": 0, "running": 0, "succeeded": 3, "pruned": 1, "failed": 0, "cancelled": 0}
    document = {
        "id": "std_1",
        "name": "shoes",
        "model_name": "shoes",
        "dataset_id": "ds_1",
        "base": {},
        "search_space": {},
        "objective": {"metric": "ndcg@10"},
        "sampler": "tpe",
        "pruner": "none",
        "budget": {"trials": 4},
        "parallel_trials": 1,
        "priority": "normal",
        "seed": 1,
        "jobs": {},
        "status": "succeeded",
        "counts": counts,
        "higher_is_better": True,
        "created_at": "2026-11-29T12:00:00Z",
    }
    answers = httpx.MockTransport(lambda _: httpx.Response(200, json=document))
    study = Client("http://rankery.test", transport=answers, retries=0).study("std_1")
    study.wait(progress=False)
    assert capsys.readouterr().err == ""
    study.wait(progress=True)
    assert "succeeded, 4 of 4 trials, 1 pruned" in " ".join(capsys.readouterr().err.split())

    def interrupt(_: Study) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match=CONTINUATION.format(call=r'study\("std_1"\)')):
        study.wait(interrupt, progress=False)


def test_lists_convert_to_data_frames() -> None:
    """Each object is a row with all its fields, also in lists of several pages."""
    pages = {
        "": {"items": [job_document(id="job_1", name="first")], "next_cursor": "two"},
        "two": {"items": [job_document(id="job_2")], "next_cursor": None},
    }
    answers = httpx.MockTransport(
        lambda request: httpx.Response(200, json=pages[request.url.params.get("cursor", "")])
    )
    table = Client("http://rankery.test", transport=answers, retries=0).jobs().to_pandas()
    assert table["id"].tolist() == ["job_1", "job_2"]
    assert Listing([1.5, 2.5]).to_pandas()["value"].tolist() == [1.5, 2.5]
    assert Listing().to_pandas().empty


def test_one_object_is_counted_in_the_singular() -> None:
    """The number of objects agrees with the name of their kind."""
    restored = RestoredView(restored={"models": 1_000, "studies": 1, "click-logs": 1}, missing=[])
    assert restored.summary()["restored"] == "1,000 models, 1 study, 1 click-log"


def test_curves_are_drawn_and_tabulated() -> None:
    """The figure has the first metric that is no loss, on all data, with its best iteration and gaps."""
    history = History(job_id="job_1", best_iteration=1, iterations=[1, 2], curves=CURVES)
    figure = history.plot().to_dict()
    assert [line["name"] for line in figure["data"]] == ["train", "validation"]
    assert list(figure["data"][1]["y"]) == [0.25, None]
    assert figure["layout"]["annotations"][0]["text"] == "best iteration 1"
    assert history.plot("loss").to_dict()["data"][0]["name"] == "validation"
    with pytest.raises(DataUnusable, match="'map' was not measured; available: loss, ndcg@10"):
        history.plot("map")
    table = history.to_pandas()
    assert list(table.columns) == ["iteration", "train ndcg@10", "validation loss", "validation ndcg@10"]
    assert table["validation ndcg@10"].isna().tolist() == [False, True]


def test_curves_of_many_folds_are_drawn() -> None:
    """There may be more curves than colours."""
    curves: dict[str, dict[str, list[float | None]]] = {
        f"fold {fold}": {"ndcg@10": [0.1]} for fold in range(1, 11)
    }
    figure = History(job_id="job_1", iterations=[1], curves=curves).plot().to_dict()
    assert [line["name"] for line in figure["data"]] == list(curves)


def test_times_of_iterations_are_shown() -> None:
    """Medians are shown in descending order, and times that were not recorded are omitted."""
    times = {"objective": [None, 8.0, 9.0, 30.0], "tree": [None, 92.4, 91.0, 1_200.0], "metrics": [None] * 4}
    curves = {"train": {"loss": [0.9, 0.8, 0.7, 0.6]}}
    history = History(
        job_id="job_1", best_iteration=1, iterations=[1, 2, 3, 4], curves=curves, milliseconds=times
    )
    assert history.median_milliseconds == {"tree": 92.4, "objective": 9.0}
    assert "tree 92 ms, objective 9.0 ms (medians)" in terminal_text(history)
    table = history.to_pandas()
    assert table["tree milliseconds"].isna().tolist() == [True, False, False, False]
    assert History(job_id="job_1", best_iteration=1, iterations=[1, 2], curves=CURVES).times == ""


def test_phases_are_those_of_the_last_attempt() -> None:
    """Phases have time and memory, if known."""
    attempts = [
        {
            "number": number,
            "worker": "w",
            "started_at": "2026-01-05T09:58:00Z",
            "phases": [
                {"phase": "loading", "seconds": 3.21, "peak_memory_bytes": 412_000_000},
                {"phase": "training", "seconds": 75.0 * number, "peak_memory_bytes": None},
            ],
        }
        for number in (1, 2)
    ]
    job = job_of(**RUNNING, attempts=attempts)
    assert [phase.seconds for phase in job.phases] == [3.21, 150.0]
    drawn = " ".join(terminal_text(job).split())
    assert drawn.endswith("loading 3.2 s 412.0 MB training 2 min 30 s")
    assert job_of(**RUNNING).phases == []


def test_a_long_epoch_counts_its_batches() -> None:
    """The progress of a network includes the batches of the current epoch."""
    progress = {"phase": "training", "iteration": 3, "total": 50, "batch": 1_200, "batches": 8_000}
    assert job_of(status="running", progress=progress).steps == "training 3 of 50, batch 1,200 of 8,000"


def test_a_phase_that_counts_a_share_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Reading and binning show a percentage instead of iterations."""
    progress = {"phase": "binning", "iteration": 37, "total": 100, "eta_seconds": 4.0}
    job = job_of(status="running", progress=progress)
    assert job.steps == "binning 37%"
    with jobs_progress([job], True) as show:
        show(job)
    drawn = capsys.readouterr().err
    assert "binning 37%" in drawn
    assert "of 100" not in drawn


def test_each_feature_has_its_bar_with_its_name() -> None:
    """The figure has a bar for each feature, and a name of digits is a label."""
    features = [
        {"feature": str(number), "gain": 90.0 - number, "gain_share": 0.01, "split": 1, "split_share": 0.01}
        for number in range(90)
    ]
    importance = Importance.model_validate({"model_id": "mdl_1", "trees": 3, "features": features})
    few, many = (importance.plot(top=top).to_dict() for top in (3, 60))
    assert list(few["data"][0]["y"]) == ["2", "1", "0"]
    assert (few["layout"]["yaxis"]["type"], few["layout"]["yaxis"]["dtick"]) == ("category", 1)
    assert many["layout"]["height"] > 60 * 15 > few["layout"]["height"]
