"""Segments of queries, stored with the values of evaluations and comparisons."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from core.data import synthetic_dataset
from core.evaluation import StoredSegments
from core.metrics import Conventions
from core.store.artifacts.keys import (
    comparison_key,
    comparison_segments_key,
    evaluation_key,
    evaluation_segments_key,
    run_key,
)
from tests.worker.inline_worker import InlineWorker


def test_results_store_the_segments_of_their_queries(inline_worker: InlineWorker) -> None:
    """The file has a row for each query; values of too few queries (`it`) and query texts are no segments."""
    markets = ["de"] * 14 + ["fr"] * 12 + ["it"] * 4
    data = replace(
        synthetic_dataset(30, seed=1, documents_per_query=10, n_features=4),
        query_columns={"market": tuple(markets), "query_text": tuple(markets)},
    )
    dataset_id = inline_worker.add(data, "segments")
    result = inline_worker.training_result(dataset_id)
    system = {"system": "web:1", "model_id": result["model_id"]}
    contract = Conventions().to_json()
    measures: dict[str, Any] = {"metrics": ["ndcg@5"], "contract": contract, "seed": 1}
    evaluated = inline_worker.run("evaluate", dataset_id, **system, **measures).result or {}
    systems = [system, {**system, "system": "again"}]
    compared = (
        inline_worker.run("compare", dataset_id, systems=systems, permutations=1000, **measures).result or {}
    )
    for key, values_key in (
        (evaluation_segments_key(evaluated["evaluation_id"]), evaluation_key(evaluated["evaluation_id"])),
        (comparison_segments_key(compared["comparison_id"]), comparison_key(compared["comparison_id"])),
    ):
        with inline_worker.store.verified.open(key) as file:
            segments = StoredSegments.read(file)
        of_market = [(segment.value, segment.queries) for segment in segments.all() if segment.by == "market"]
        assert of_market == [("de", 14), ("fr", 12)]
        assert "query_text" not in {segment.by for segment in segments.all()}
        members = segments.members("market: fr")
        assert members is not None
        with inline_worker.store.verified.open(values_key) as file:
            query_ids = pq.read_table(file)["query_id"].to_pylist()
        assert [query_ids[row] for row in np.flatnonzero(members)] == list(data.query_ids[14:26])


def test_unjudged_documents_of_a_run_do_not_change_the_segments(inline_worker: InlineWorker) -> None:
    """The segments of a run are those of the dataset, so that systems can be compared by segment."""
    data = synthetic_dataset(12, seed=1, documents_per_query=4, n_features=2)
    dataset_id = inline_worker.add(data, "judged")
    lines = [
        f"{query} Q0 {document} 1 {-rank} bm25\n"
        for number, query in enumerate(data.query_ids)
        for rank, document in enumerate([data.document_ids[4 * number], *"abcdefgh"[: 8 * (number % 2)]])
    ]
    inline_worker.store.artifacts.write_bytes(run_key("run_1"), "".join(lines).encode())
    imported = inline_worker.run("import", dataset_id, upload_id="run_1", name="bm25", filename="bm25.run")
    ranking_id = (imported.result or {})["ranking_id"]
    evaluated = inline_worker.run(
        "evaluate", dataset_id, ranking_id=ranking_id, system="bm25", metrics=["ndcg@5"]
    )
    with inline_worker.store.read() as tx:
        segments = tx.evaluations.get((evaluated.result or {})["evaluation_id"]).slices or []
    assert "documents a query" not in {segment["by"] for segment in segments}
