"""Imports of TREC runs as rankings."""

import pytest

from core.data import synthetic_dataset
from core.store import Job
from core.store.artifacts.keys import run_key
from tests.worker.inline_worker import InlineWorker

DATASET = synthetic_dataset(3, seed=1, documents_per_query=4, n_features=2)


def _run_import(inline_worker: InlineWorker, content: bytes) -> Job:
    dataset_id = inline_worker.add(DATASET, "judged")
    inline_worker.store.artifacts.write_bytes(run_key("run_1"), content)
    return inline_worker.run("import", dataset_id, upload_id="run_1", name="bm25", filename="bm25.run")


@pytest.mark.parametrize(
    ("content", "detail"),
    [
        (b"q1 Q0 d1 1 high bm25\n", "file bm25.run, line 1, column 12: expected a score"),
        (b"", "file bm25.run: expected a TREC run, but the file is empty"),
        (b"\x1f\x8b\x08\x00", "file bm25.run: expected complete gzip data"),
    ],
)
def test_the_problem_of_an_unreadable_run_names_the_run(
    inline_worker: InlineWorker, content: bytes, detail: str
) -> None:
    """The title refers to the run, not to the dataset, which is valid."""
    job = _run_import(inline_worker, content)
    assert (job.status, job.problem and job.problem["title"]) == ("failed", "Run cannot be read")
    assert job.problem is not None
    assert job.problem["detail"].startswith(detail)


def test_a_run_becomes_a_ranking(inline_worker: InlineWorker) -> None:
    """The ranking has the queries that the run shares with the dataset; a finding counts the others."""
    query = DATASET.query_ids[0]
    lines = [
        f"{query} Q0 {document} 1 {score} bm25\n" for score, document in enumerate(DATASET.document_ids[:4])
    ]
    job = _run_import(inline_worker, "".join(lines).encode())
    assert job.status == "succeeded", job.problem
    assert (job.result or {})["ranking_id"].startswith("rnk_")
    (finding,) = job.findings or []
    assert (finding["code"], finding["severity"]) == ("queries-without-results", "warning")
    assert finding["title"] == "2 of 3 queries of the dataset have no document in the ranking"


def test_documents_that_are_not_judged_are_counted(inline_worker: InlineWorker) -> None:
    """The import job and each evaluation of the ranking have a finding with the count."""
    query, documents = DATASET.query_ids[0], [DATASET.document_ids[0], "x", "y"]
    lines = [f"{query} Q0 {document} 1 {score} bm25\n" for score, document in enumerate(documents)]
    job = _run_import(inline_worker, "".join(lines).encode())
    dataset_id, ranking_id = job.spec["dataset_id"], (job.result or {})["ranking_id"]
    evaluated = inline_worker.run(
        "evaluate", dataset_id, ranking_id=ranking_id, system="bm25", metrics=["ndcg@5"]
    )
    assert evaluated.status == "succeeded", evaluated.problem
    _, of_job = job.findings or []
    _, of_evaluation, too_few = evaluated.findings or []
    assert (too_few["code"], too_few["severity"]) == ("too-few-queries", "info")
    for finding in (of_job, of_evaluation):
        assert (finding["code"], finding["severity"]) == ("unjudged-documents", "warning")
        assert finding["title"] == "1 of 3 retrieved documents is judged"
        assert set(finding["examples"]) == {"x", "y"}
