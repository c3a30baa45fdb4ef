"""Drift jobs on stored requests: they find shifts, and report no drift without a shift."""

import gzip
import hashlib
import json
import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from app import ApiSettings, create_app
from app.jobs.requests.measuring import DriftRequest
from app.jobs.submission.measuring import resolve_drift
from app.scoring.sample_writer import SampleWriter
from app.scoring.tables import MEDIA_TYPE
from core.data import RankingDataset, synthetic_dataset
from core.data.categories import Categories
from core.errors import InvalidInput
from core.store import DriftReport, Job, Model, Store
from core.store.artifacts.keys import samples_folder, samples_key
from tests.checksums import checksums_under
from tests.servers.fixtures import StoreArguments
from tests.worker.inline_worker import InlineWorker
from worker.job.score_samples import draw_queries

GIBIBYTE = 2**30
Json = dict[str, Any]


def judged(seed: int, queries: int = 120) -> RankingDataset:
    """Return queries sampled from one population."""
    return synthetic_dataset(queries, seed=seed, polynomial_seed=1, documents_per_query=8, n_features=4)


def shifted(dataset: RankingDataset, by: float) -> RankingDataset:
    """Return the dataset with a shifted first feature."""
    features = np.array(dataset.features)
    features[:, 0] += by * np.std(features[:, 0])
    return dataset.with_features(features, dataset.feature_names, dataset.categories)


class Traffic:
    """A model in the store of an inline worker, and requests to it."""

    def __init__(
        self, inline_worker: InlineWorker, dataset: RankingDataset | None = None, **spec: Any
    ) -> None:
        self.inline_worker, self.store = inline_worker, inline_worker.store
        self.dataset_id = inline_worker.add(dataset or judged(1), "train")
        inline_worker.training_result(self.dataset_id, **spec)
        self.model = self.version(1)

    def version(self, number: int) -> Model:
        """Return a version of the model."""
        with self.store.read() as tx:
            return tx.models.resolve(f"web:{number}")

    def send(
        self,
        dataset: RankingDataset,
        ago: timedelta = timedelta(hours=1),
        *,
        model: Model | None = None,
        query_ids: Sequence[str] | None = None,
    ) -> None:
        """Store a request for each query, as the API does."""
        uploads = SampleWriter(self.store, GIBIBYTE, 0.01)
        uploads.start()
        at = datetime.now(UTC) - ago
        for index in range(dataset.n_queries):
            start, stop = dataset.query_boundaries[index : index + 2]
            query_id = query_ids[index] if query_ids else dataset.query_ids[index]
            line = _line(model or self.model, dataset, int(start), int(stop), query_id, at)
            record = {"msg": line, "model_name": "web", "created": at.timestamp()}
            uploads.emit(logging.makeLogRecord(record))
        uploads.close()

    def run_drift(self, **options: Any) -> Job:
        """Run a drift job and return it."""
        request = DriftRequest.model_validate({"kind": "drift", "model": "web:1", **options})
        with self.store.begin() as tx:
            job = tx.enqueue(resolve_drift(tx, request))
        return self.inline_worker.run_queued(job.id)

    def report(self, **options: Any) -> DriftReport:
        """Run a drift job, which must succeed, and return its report."""
        job = self.run_drift(**options)
        assert job.status == "succeeded", job.problem
        with self.store.read() as tx:
            return tx.drift.get((job.result or {})["drift_report_id"])


def _line(model: Model, dataset: RankingDataset, start: int, stop: int, query_id: str, at: datetime) -> str:
    rows = np.array(dataset.features[start:stop]).astype(object)
    for column, name in enumerate(dataset.feature_names):
        if name in dataset.categories:
            rows[:, column] = dataset.categories[name].texts(dataset.features[start:stop, column])
    rows[rows != rows] = None  # only NaN differs from itself
    documents = [{"id": str(i), "features": row, "score": 0.0} for i, row in enumerate(rows.tolist())]
    return json.dumps(
        {
            "at": at.isoformat(),
            "request_id": "r",
            "model": {"id": model.id, "name": model.name, "version": model.version},
            "queries": [{"id": query_id, "documents": documents}],
        }
    )


@pytest.fixture
def traffic(inline_worker: InlineWorker) -> Traffic:
    """A model without requests."""
    return Traffic(inline_worker)


def coloured(dataset: RankingDataset, shares: Sequence[float], missing: float) -> RankingDataset:
    """Return the dataset with colours as its second feature, and missing values in its third."""
    rng = np.random.default_rng(dataset.n_documents + int(100 * missing))
    features = np.array(dataset.features)
    features[:, 1] = rng.choice(3, len(features), p=shares)
    features[rng.random(len(features)) < missing, 2] = np.nan
    colours = {dataset.feature_names[1]: Categories(("red", "green", "blue"))}
    return replace(dataset, features=features, categories=colours)


def by_name(comparison: Json) -> dict[str, Json]:
    """Return the features of a comparison by name."""
    return {each["name"]: each for each in comparison["features"]}


def test_a_shift_is_found_with_its_feature(traffic: Traffic) -> None:
    """Comparisons with the training data and the previous period find the shift, and there is an event."""
    traffic.send(judged(2), timedelta(days=10))
    traffic.send(shifted(judged(3), 2.0))
    report = traffic.report()
    assert report.verdict == "drift"
    assert "f1" in report.drifted_features
    assert (report.requests, report.queries) == (120, 120)
    training, previous = report.comparisons
    for comparison in (training, previous):
        first = comparison["features"][0]
        assert (first["name"], first["verdict"]) == ("f1", "drift")
        assert first["psi"] > 0.2
        assert sum(first["profile"]["after"]) == pytest.approx(1)
        assert len(first["profile"]["edges"]) + 2 == len(first["profile"]["before"])
        assert {each["verdict"] for each in comparison["features"][1:]} == {"none"}
    assert training["reference"]["dataset_id"] == traffic.dataset_id
    assert training["reference"]["queries"] == previous["reference"]["queries"] == 120
    with traffic.store.read() as tx:
        (event,) = tx.events.page(None, 10, kinds=["drift.found"]).items
    assert event.object_id == report.id
    assert event.data["features"] == report.drifted_features


@contextmanager
def _api_client(settings: ApiSettings) -> Iterator[TestClient]:
    """Serve the API in this process, and restore the log handlers afterwards."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        yield client
    root.handlers[:] = handlers
    root.setLevel(level)


def as_table(dataset: RankingDataset) -> dict[str, Any]:
    """Return a ranking request of all queries."""
    columns: dict[str, Any] = {
        name: dataset.features[:, column] for column, name in enumerate(dataset.feature_names)
    }
    sizes = np.diff(dataset.query_boundaries)
    table = pa.table({"query_id": np.repeat(dataset.query_ids, sizes).tolist(), **columns})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return {"content": bytes(sink.getvalue()), "headers": {"Content-Type": MEDIA_TYPE}}


def as_tensors(dataset: RankingDataset) -> list[dict[str, Any]]:
    """Return an inference request for each query."""
    parts = np.split(np.asarray(dataset.features), dataset.query_boundaries[1:-1])
    return [
        {"inputs": [{"name": "x", "shape": part.shape, "datatype": "FP32", "data": part.ravel().tolist()}]}
        for part in parts
    ]


@pytest.mark.long
@pytest.mark.parametrize(("form", "n_requests"), [("table", 1), ("tensors", 60)])
def test_requests_as_tables_and_tensors_are_compared(
    traffic: Traffic, store_arguments: StoreArguments, form: str, n_requests: int
) -> None:
    """Through the API, queries like the training data have no drift, and shifted queries have drift."""
    settings = ApiSettings(
        **store_arguments, broker_url="redis://127.0.0.1:1/0", score_log_share=1, scores_per_second=0
    )

    def report_after(dataset: RankingDataset) -> DriftReport:
        with _api_client(settings) as client:
            if form == "table":
                answers = [client.post("/v1/models/web/rank", **as_table(dataset))]
            else:
                answers = [client.post("/v2/models/web/infer", json=each) for each in as_tensors(dataset)]
        assert {answer.status_code for answer in answers} == {200}
        return traffic.report(compare_with_previous=False)

    quiet = report_after(judged(2, 60))
    assert (quiet.requests, quiet.queries, quiet.verdict) == (n_requests, 60, "none"), quiet.sentence
    loud = report_after(shifted(judged(3, 60), 6.0))
    assert (loud.requests, loud.verdict) == (2 * n_requests, "drift"), loud.sentence
    assert loud.drifted_features[0] == "f1"


def test_resampled_queries_are_no_drift(traffic: Traffic) -> None:
    """Other queries of the same population have no drift and cause no event."""
    traffic.send(judged(2), timedelta(days=10))
    traffic.send(judged(3))
    report = traffic.report()
    assert (report.verdict, report.drifted_features) == ("none", [])
    assert [each["verdict"] for each in report.comparisons] == ["none", "none"]
    assert report.comparisons[0]["scores"]["verdict"] != "drift"
    with traffic.store.read() as tx:
        assert tx.events.page(None, 10, kinds=["drift.found"]).items == []


def test_a_query_counts_once_by_its_latest_request(traffic: Traffic) -> None:
    """Only the latest request of a query id counts, except with `queries_by="request"`."""
    traffic.send(shifted(judged(3), 5.0), timedelta(hours=3))
    traffic.send(judged(3), timedelta(hours=2))
    report = traffic.report(compare_with_previous=False)
    assert (report.requests, report.queries, report.verdict) == (240, 120, "none")
    by_request = traffic.report(compare_with_previous=False, queries_by="request")
    assert (by_request.requests, by_request.queries, by_request.verdict) == (240, 240, "drift")


def test_too_few_queries_are_not_compared(traffic: Traffic) -> None:
    """The sentence has the number of queries, and names `queries_by` if requests share their ids."""
    assert "0 now" in traffic.report().sentence
    data = shifted(judged(3), 9.0)
    traffic.send(data, query_ids=["q"] * data.n_queries)
    report = traffic.report()
    assert (report.verdict, report.queries) == ("too_few", 1)
    assert "queries_by" in report.sentence
    assert report.comparisons[0]["features"] == []
    assert report.comparisons[0]["scores"] is None


def test_long_queries_are_compared_by_some_of_their_documents(inline_worker: InlineWorker) -> None:
    """At most 500 random documents of each query are in a sample, so that a sample has many queries."""
    long = synthetic_dataset(31, seed=1, polynomial_seed=1, documents_per_query=3_400, n_features=4)
    drawn = draw_queries(long, seed=1)
    assert np.diff(drawn.query_boundaries).tolist() == [500] * 31
    assert drawn.document_ids[-1] in set(long.document_ids[-3_400:])
    traffic = Traffic(inline_worker)
    traffic.send(long)
    report = traffic.report(compare_with_previous=False)
    assert report.verdict != "too_few"
    assert report.comparisons[0]["documents"] == 31 * 500
    assert report.comparisons[0]["queries"] == report.queries == 31


def test_only_requests_to_the_model_in_the_period_count(traffic: Traffic) -> None:
    """Requests to other versions with the same features count; requests to other models do not."""
    traffic.inline_worker.training_result(traffic.dataset_id)
    other = judged(2)
    traffic.inline_worker.train(traffic.dataset_id, model_name="other")
    with traffic.store.read() as tx:
        foreign = tx.models.resolve("other")
    traffic.send(judged(3), model=traffic.version(2))
    traffic.send(shifted(other, 9.0), model=foreign)
    traffic.send(shifted(judged(4), 9.0), timedelta(days=30))
    report = traffic.report()
    assert (report.requests, report.verdict) == (120, "none")


def test_categories_and_missing_values_are_compared(inline_worker: InlineWorker) -> None:
    """Categories are texts in requests, which are compared by the categories of the model."""
    data = judged(1)

    traffic = Traffic(inline_worker, coloured(data, [0.6, 0.3, 0.1], 0.05))
    traffic.send(coloured(judged(3), [0.1, 0.3, 0.6], 0.5))
    report = traffic.report(compare_with_previous=False)
    (training,) = report.comparisons
    colour, sparse = by_name(training)["f2"], by_name(training)["f3"]
    assert (colour["kind"], colour["verdict"], sparse["verdict"]) == ("category", "drift", "drift")
    assert colour["profile"]["categories"] == ["red", "green", "blue", "others"]
    assert sparse["missing_after"] - sparse["missing_before"] == pytest.approx(0.45, abs=0.05)
    assert by_name(training)["f1"]["verdict"] == "none"


def test_categories_that_the_model_does_not_have_are_left_out(inline_worker: InlineWorker) -> None:
    """Requests with a category count for a version without the feature, not if it is a number there."""
    shares = [0.6, 0.3, 0.1]
    traffic = Traffic(inline_worker, coloured(judged(1), shares, 0.0))
    inline_worker.training_result(traffic.dataset_id, features={"use": ["f1", "f3"]})
    inline_worker.training_result(inline_worker.add(judged(1), "numbers"))
    traffic.send(coloured(judged(3), shares, 0.0))
    reports = [traffic.report(model=f"web:{version}") for version in (1, 2, 3)]
    assert [(report.requests, report.verdict) for report in reports] == [
        (120, "none"),
        (120, "none"),
        (0, "too_few"),
    ]


def test_scores_are_compared_with_those_on_the_validation_data(inline_worker: InlineWorker) -> None:
    """Scores are compared with those on the validation dataset, unless the job names another dataset."""
    validation = inline_worker.add(judged(7), "validation")
    traffic = Traffic(inline_worker, validation={"dataset_id": validation})
    traffic.send(judged(3))
    reference = traffic.report().comparisons[0]["reference"]
    assert (reference["dataset_id"], reference["scored_dataset_id"]) == (traffic.dataset_id, validation)
    named = traffic.report(dataset_id=validation).comparisons[0]["reference"]
    assert (named["dataset_id"], named["scored_dataset_id"]) == (validation, validation)


@pytest.mark.long
def test_scores_that_are_not_compared_are_mentioned(inline_worker: InlineWorker) -> None:
    """With few validation queries, scores are not compared; the report has the reason and a solution."""
    few = inline_worker.add(judged(7, queries=10), "few")
    traffic = Traffic(inline_worker, validation={"dataset_id": few})
    traffic.send(judged(3))
    report = traffic.report(compare_with_previous=False)
    assert (report.verdict, report.comparisons[0]["scores"]) == ("none", None)
    expected = f"No drift found. Scores are not compared: {few}, which validated the model, has 10 queries"
    assert report.sentence.startswith(expected)
    assert "dataset_id" in report.sentence
    named = traffic.report(dataset_id=traffic.dataset_id)
    assert named.comparisons[0]["scores"] is not None


def test_a_dataset_of_other_features_is_refused(traffic: Traffic) -> None:
    """A dataset that lacks most features of the model is no reference: all of them would be missing."""
    other = judged(5)
    renamed = other.with_features(other.features, tuple("abcd"), other.categories)
    traffic.send(judged(3))
    job = traffic.run_drift(dataset_id=traffic.inline_worker.add(renamed, "other"))
    assert (job.status, (job.problem or {})["errors"][0]["pointer"]) == ("failed", "/dataset_id")


def test_a_strict_threshold_can_be_reached(traffic: Traffic) -> None:
    """A job makes as many permutations as its threshold of p needs; one that is too small is refused."""
    traffic.send(shifted(judged(3), 2.0))
    report = traffic.report(thresholds={"p": 0.001}, compare_with_previous=False)
    assert report.verdict == "drift"
    with pytest.raises(InvalidInput) as refused:
        traffic.run_drift(thresholds={"p": 0.0002})
    assert refused.value.problems[0].pointer == "/thresholds/p"
    assert "must be at least 0.0003" in refused.value.problems[0].detail


def test_a_small_reference_is_named_as_the_reason(traffic: Traffic) -> None:
    """If only the reference has too few queries, the sentence does not blame the ids of the requests."""
    few = traffic.inline_worker.add(judged(7, queries=10), "few")
    traffic.send(judged(3))
    report = traffic.report(dataset_id=few, compare_with_previous=False)
    assert report.verdict == "too_few"
    assert "10 before and 120 now" in report.sentence
    assert "queries_by" not in report.sentence


def test_stored_requests_are_limited_in_size(store: Store) -> None:
    """The oldest requests are deleted with their artifacts."""
    now, written = datetime.now(UTC), list[str]()
    for hour in range(4):
        uploads = SampleWriter(store, 200, 0.01)
        uploads.start()
        created = (now - timedelta(hours=9 - hour)).timestamp()
        record = {"msg": secrets.token_hex(50), "model_name": "web", "created": created}
        uploads.emit(logging.makeLogRecord(record))
        uploads.close()
        with store.read() as tx:
            written.append(tx.drift.samples_between(now - timedelta(days=1), now, "web")[0].id)
    with store.read() as tx:
        samples = tx.drift.samples_between(now - timedelta(days=1), now, "web")
    assert 1 <= len(samples) < 4
    assert sum(row.size_bytes for row in samples) <= 200
    assert samples[0].last_at == max(row.last_at for row in samples) > now - timedelta(hours=7)
    assert [store.artifacts.exists(samples_folder(each)) for each in written] == [
        each in {row.id for row in samples} for each in written
    ]
    with store.read() as tx:
        checksums = {row.key for row in checksums_under(tx, "scored")}
    assert checksums == {samples_key(row.id) for row in samples}


def test_stored_requests_are_verified_before_they_are_compared(inline_worker: InlineWorker) -> None:
    """Stored requests without a checksum get one when they are read; altered ones fail the job."""
    traffic = Traffic(inline_worker)
    traffic.send(judged(2))
    store = traffic.store
    with store.read() as tx:
        # There are two parts if sending takes more than a second.
        written = checksums_under(tx, "scored")[0]
    content = store.artifacts.read_bytes(written.key)
    assert written.sha256 == hashlib.sha256(content).hexdigest()
    with store.begin() as tx:
        tx.artifacts.delete_checksums(written.key.rpartition("/")[0])
    assert traffic.report(compare_with_previous=False).verdict == "none"
    with store.read() as tx:
        (checksum,) = (one for one in checksums_under(tx, "scored") if one.key == written.key)
    assert (checksum.sha256, checksum.damaged_at) == (written.sha256, None)
    other = gzip.compress(gzip.decompress(content).replace(b'"q', b'"p'))
    store.artifacts.write_bytes(written.key, other)
    job = traffic.run_drift(compare_with_previous=False)
    assert job.problem is not None
    assert job.problem["title"] == "Stored bytes damaged"
    assert written.key in job.problem["detail"]
