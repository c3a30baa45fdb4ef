"""Training jobs: training, validation and test data, and caches for later jobs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from core.data import RankingDataset, split_queries, synthetic_dataset
from core.data.splits import fold_queries
from core.store.artifacts.keys import validation_key
from core.training import train, training_spec
from tests.worker.inline_worker import SMALL, InlineWorker
from worker import WorkerSettings
from worker.job.run import JobRun
from worker.job.systems import load_model
from worker.process.tasks import RUNNERS, run_runner


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """Forty synthetic queries, in two markets."""
    synthetic = synthetic_dataset(40, seed=1, documents_per_query=20, n_features=6)
    return RankingDataset.from_arrays(
        synthetic.features,
        synthetic.labels,
        synthetic.query_boundaries,
        query_columns={"market": ["de", "fr"] * 20},
    )


def test_the_second_job_uses_the_caches(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The second job reads no stored Parquet and bins no features, and its model is the same."""
    dataset_id = inline_worker.add(dataset, "d1")
    first = inline_worker.training_result(dataset_id, validation={"fraction": 0.2})
    before = inline_worker.cache_use_times()
    assert len(before) == 3  # arrays, training bins, validation bins
    inline_worker.store.artifacts.delete("data/d1")
    second = inline_worker.training_result(dataset_id, validation={"fraction": 0.2})
    after = inline_worker.cache_use_times()
    assert set(after) == set(before)
    assert all(after[entry] > used_at for entry, used_at in before.items())
    assert inline_worker.model_text(second) == inline_worker.model_text(first)


def test_the_job_shows_which_sizes_were_chosen(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """A finding has the chosen sizes."""
    size = {"queries": 40, "documents": 800, "features": 6}
    dataset_id = inline_worker.add(dataset, "d1")
    findings = inline_worker.train(dataset_id, automatic=size | {"chosen": {"num_leaves": 9}}).findings
    (title,) = [
        finding["title"] for finding in findings or () if finding["code"] == "automatic-hyperparameters"
    ]
    assert title == "Chosen for 40 queries, 800 documents and 6 features: num_leaves 9"


def test_bootstrap_samples_share_bins_and_differ_by_seed(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """Bootstrap samples differ only in query weights, so the features are binned once."""
    dataset_id = inline_worker.add(dataset, "d1")
    trees = {
        inline_worker.model_text(
            inline_worker.training_result(dataset_id, bootstrap=bootstrap, seed=seed)
        ).split("parameters:")[0]
        for bootstrap, seed in ((False, 1), (False, 2), (True, 1), (True, 2))
    }
    assert len(trees) == 3
    assert len(inline_worker.cache_use_times()) == 2  # arrays, training bins


@pytest.mark.long
def test_models_are_the_same_without_caches(
    inline_worker: InlineWorker, dataset: RankingDataset, settings: WorkerSettings
) -> None:
    """The models are equal byte for byte, for every form of validation."""
    without = InlineWorker(
        inline_worker.store, settings.model_copy(update={"array_cache_bytes": 0, "binned_cache_bytes": 0})
    )
    dataset_id, other_id = (
        inline_worker.add(dataset, "d1"),
        inline_worker.add(dataset.select_queries(range(9)), "d2"),
    )
    for validation in (
        None,
        {"dataset_id": other_id},
        {"fraction": 0.2},
        {"folds": 4, "fold": 2},
        {"column": "market", "values": ["de"]},
    ):
        expected = without.model_text(without.training_result(dataset_id, validation=validation))
        for _ in range(2):
            result = inline_worker.training_result(dataset_id, validation=validation)
            assert inline_worker.model_text(result) == expected


@pytest.mark.long
def test_other_parts_and_seeds_do_not_share_bins(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """The held-out queries determine the training data."""
    dataset_id = inline_worker.add(dataset, "d1")
    texts = set()
    for spec in (
        {"validation": {"folds": 4, "fold": 1}},
        {"validation": {"folds": 4, "fold": 2}},
        {"validation": {"folds": 4, "fold": 1}, "seed": 7},
        {"validation": {"folds": 4, "fold": 1}, "test": {"folds": 4, "fold": 1}},
    ):
        texts.add(inline_worker.model_text(inline_worker.training_result(dataset_id, **spec)))
    assert len(texts) == 4
    assert len(inline_worker.cache_use_times()) == 1 + 2 * 4


def test_a_test_set_is_held_out_first(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The evaluation covers exactly the held-out queries, and the training uses none of them."""
    dataset_id = inline_worker.add(dataset, "d1")
    result = inline_worker.training_result(
        dataset_id, test={"folds": 4, "fold": 1}, validation={"fraction": 0.25}, seed=3
    )
    rest, held_out = fold_queries(dataset, 4, 1, seed=3)
    assert inline_worker.tested_queries(result) == held_out.query_ids
    # The same data in separate files yields the same model.
    training, validation = split_queries(rest, 0.25, seed=3)
    apart = inline_worker.training_result(
        inline_worker.add(training, "training"),
        validation={"dataset_id": inline_worker.add(validation, "validation")},
        seed=3,
    )
    assert inline_worker.model_text(apart) == inline_worker.model_text(result)
    with inline_worker.store.read() as tx:
        assert tx.evaluations.get(result["evaluation_id"]).dataset_id == dataset_id


def test_each_validation_query_is_measured(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The model has the values of all metrics by query; their means are those of the best iteration."""
    result = inline_worker.training_result(
        inline_worker.add(dataset, "d1"), validation={"fraction": 0.25}, metrics=["ndcg@5", "map"], seed=3
    )
    with inline_worker.store.read() as tx:
        model = tx.models.get(result["model_id"])
        job = tx.jobs.get(model.job_id)
    _, validation = split_queries(dataset, 0.25, seed=3)
    with inline_worker.store.verified.open(validation_key(model.id)) as file:
        values = pq.read_table(file)
    assert values["query_id"].to_pylist() == list(validation.query_ids)
    assert model.validation is not None
    assert job.metrics is not None
    assert model.validation["queries"] == validation.n_queries
    for metric in ("ndcg@5", "map"):
        interval = model.validation["metrics"][metric]
        assert interval["mean"] == pytest.approx(job.metrics["validation"][metric])
        assert interval["mean"] == pytest.approx(np.nanmean(values[metric].to_numpy()))
        assert interval["lower"] < interval["mean"] < interval["upper"]


def test_a_model_has_the_tags_of_its_training(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """Tags do not affect the model; without validation data, the model has no validation metrics."""
    dataset_id, tags = inline_worker.add(dataset, "d1"), {"grid": "g1", "num_leaves": "7"}
    results = [
        inline_worker.training_result(dataset_id, tags=tags),
        inline_worker.training_result(dataset_id),
    ]
    with inline_worker.store.read() as tx:
        tagged, plain = (tx.models.get(result["model_id"]) for result in results)
    assert (tagged.tags, plain.tags, tagged.validation) == (tags, None, None)
    assert tagged.sha256 == plain.sha256
    assert tagged.lineage is not None
    assert "tags" not in tagged.lineage["spec"]


@pytest.mark.long
def test_a_model_has_the_chosen_features_only(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The model equals that of a dataset with these features only, even if other bins are cached."""
    dataset_id = inline_worker.add(dataset, "d1")
    names = ("f2", "f4", "f5")
    columns = [dataset.feature_names.index(name) for name in names]
    narrow = dataset.with_features(np.ascontiguousarray(dataset.features[:, columns]), names)
    expected = inline_worker.model_text(
        inline_worker.training_result(inline_worker.add(narrow, "d2"), test={"fraction": 0.2})
    )
    inline_worker.training_result(dataset_id, test={"fraction": 0.2})
    for choice in ({"use": ["f5", "f2", "f4"]}, {"leave_out": ["f1", "f3", "f6"]}):
        result = inline_worker.training_result(dataset_id, test={"fraction": 0.2}, features=choice)
        assert inline_worker.model_text(result) == expected
        with inline_worker.store.read() as tx:
            model = tx.models.get(result["model_id"])
        assert tuple(model.feature_names) == names
        assert model.lineage is not None
        assert model.lineage["spec"]["features"] == choice


@pytest.mark.parametrize("role", ["validation", "test"])
def test_features_that_are_left_out_are_no_added_features(
    inline_worker: InlineWorker, dataset: RankingDataset, role: str
) -> None:
    """Both datasets have the feature, so that no finding names it; one that only the other has is named."""
    wide = dataset.with_features(
        np.hstack([dataset.features, dataset.features[:, :1]]), (*dataset.feature_names, "f7")
    )
    other = inline_worker.add(wide, "d2")
    job = inline_worker.train(
        inline_worker.add(dataset, "d1"),
        features={"leave_out": ["f3"]},
        **({"test_dataset_id": other} if role == "test" else {"validation": {"dataset_id": other}}),
    )
    added = [finding for finding in job.findings or [] if finding["code"] == "features-added"]
    assert [finding["examples"] for finding in added] == [["f7"]]


def test_unknown_features_are_refused(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The error has the JSON pointer in the job."""
    dataset_id = inline_worker.add(dataset, "d1")
    refused: dict[str, dict[str, Any]] = {
        "/features/use": {"features": {"use": ["f11"]}},
        "/hyperparameters/monotone_constraints": {"hyperparameters": {"monotone_constraints": {"f11": 1}}},
        "/hyperparameters/feature_contri": {
            "features": {"leave_out": ["f6"]},
            "hyperparameters": {"feature_contri": {"f6": 1.5}},
        },
    }
    for pointer, spec in refused.items():
        problem = inline_worker.train(dataset_id, **spec).problem
        assert problem is not None
        assert [error["pointer"] for error in problem["errors"]] == [pointer]
        assert "the dataset has no feature 'f" in problem["detail"]


def test_a_training_continues_a_model(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The base trees come first, the features are equal, and the lineage names the base model."""
    dataset_id = inline_worker.add(dataset, "d1")
    base = inline_worker.training_result(dataset_id, features={"leave_out": ["f3"]}, test={"fraction": 0.2})
    chosen: dict[str, Any] = {"features": {"leave_out": ["f3"]}, "test": {"fraction": 0.2}}
    result = inline_worker.training_result(dataset_id, init_model="web:1", **chosen)
    with inline_worker.store.read() as tx:
        first, second = tx.models.get(base["model_id"]), tx.models.get(result["model_id"])
    assert (first.best_iteration, second.best_iteration) == (5, 10)
    assert inline_worker.model_text(result).count("Tree=") == 10
    assert second.feature_names == first.feature_names
    assert second.lineage is not None
    assert second.lineage["init_model"] == {
        "id": first.id,
        "model": "web:1",
        "sha256": first.sha256,
        "trees": 5,
    }
    spec = {**second.lineage["spec"], "model_id": second.id, "system": "web:2"}
    again = inline_worker.run("reproduce", **{name: value for name, value in spec.items() if name != "kind"})
    assert again.result is not None
    assert again.result["equal"]


def test_a_model_of_other_features_cannot_be_continued(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """The error names the features that the model or the training data lack."""
    dataset_id = inline_worker.add(dataset, "d1")
    inline_worker.training_result(dataset_id, features={"leave_out": ["f3"]})
    details = {}
    for features in (None, {"leave_out": ["f2", "f3"]}):
        problem = inline_worker.train(dataset_id, init_model="web:1", features=features).problem
        assert problem is not None
        assert problem["errors"][0]["pointer"] == "/init_model"
        details[bool(features)] = problem["errors"][0]["detail"]
    assert details[False].startswith("web:1 does not have features of the training data: f3;")
    assert details[True] == "the training data lack features of web:1: f2"


def test_dart_has_no_checkpoints(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """A finding reports that a DART training has no checkpoints and starts again after an interruption."""
    often = InlineWorker(
        inline_worker.store, inline_worker.settings.model_copy(update={"checkpoint_seconds": 0.001})
    )
    job = often.train(inline_worker.add(dataset, "d1"), hyperparameters=SMALL | {"boosting": "dart"})
    assert job.status == "succeeded", job.problem
    assert "no-checkpoints" in [finding["code"] for finding in job.findings or []]
    assert job.checkpoint is None


def test_parts_that_cannot_be_held_out_are_refused(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """The JSON pointer of the error is that of the wrong value."""
    dataset_id = inline_worker.add(dataset, "d1")
    for role in ("validation", "test"):
        job = inline_worker.train(dataset_id, **{role: {"column": "market", "values": ["uk"]}})
        assert job.status == "failed"
        assert job.problem is not None
        assert job.problem["errors"][0]["pointer"] == f"/{role}/values/0"


def relabelled(dataset: RankingDataset, mapped: dict[float, float]) -> RankingDataset:
    """Return the dataset with other labels."""
    labels = dataset.labels.copy()
    for label, other in mapped.items():
        labels[dataset.labels == label] = other
    return dataset.with_labels(labels)


def test_labels_are_mapped_for_the_job(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The model equals that of the mapped labels, and the held-out queries do not depend on the map."""
    odd = relabelled(dataset, {0: -1, 1: np.nan})
    plain = relabelled(dataset, {1: 0})
    result = inline_worker.training_result(
        inline_worker.add(odd, "odd"), label_map={"-1": 0, "nan": 0}, test={"fraction": 0.2}
    )
    expected = inline_worker.training_result(inline_worker.add(plain, "plain"), test={"fraction": 0.2})
    assert inline_worker.model_text(result) == inline_worker.model_text(expected)
    assert inline_worker.tested_queries(result) == inline_worker.tested_queries(expected)


@pytest.mark.parametrize("where", ["training", "validation", "test"])
def test_unsuitable_labels_are_refused(
    inline_worker: InlineWorker, dataset: RankingDataset, where: str
) -> None:
    """Negative labels in any dataset of the job are refused, and the error suggests a label map."""
    good, bad = inline_worker.add(dataset, "good"), inline_worker.add(relabelled(dataset, {0: -1}), "bad")
    specs: dict[str, dict[str, Any]] = {
        "training": {},
        "validation": {"validation": {"dataset_id": bad}},
        "test": {"test_dataset_id": bad},
    }
    job = inline_worker.train(bad if where == "training" else good, **specs[where])
    assert job.problem is not None
    assert job.problem["errors"][0]["pointer"] == "/label_map"
    assert '{"-1": 0}' in job.problem["detail"]


def test_an_evaluation_maps_labels_too(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """An evaluation refuses labels that metrics cannot use; a ranking job needs no labels."""
    good, bad = inline_worker.add(dataset, "good"), inline_worker.add(relabelled(dataset, {0: -1}), "bad")
    spec = {"model_id": inline_worker.training_result(good)["model_id"], "metrics": ["ndcg@5"]}
    refused = inline_worker.run("evaluate", bad, **spec)
    assert refused.problem is not None
    assert refused.problem["errors"][0]["pointer"] == "/label_map"
    mapped = inline_worker.run("evaluate", bad, **spec, label_map={"-1": 0})
    plain = inline_worker.run("evaluate", good, **spec)
    assert mapped.metrics == plain.metrics is not None
    assert inline_worker.run("rank", bad, **spec).status == "succeeded"


def test_datasets_are_compared(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The findings of the job report queries that training and validation data share."""
    training, other = dataset.select_queries(range(30)), dataset.select_queries(range(25, 40))
    job = inline_worker.train(
        inline_worker.add(training, "training"), validation={"dataset_id": inline_worker.add(other, "other")}
    )
    assert job.findings is not None
    codes = {finding["code"] for finding in job.findings}
    assert any("quer" in code for code in codes), codes
    assert json.dumps(job.findings)
    alone = inline_worker.train(inline_worker.add(training, "training"), validation={"fraction": 0.2})
    assert not codes & {finding["code"] for finding in alone.findings or ()}


@pytest.mark.long
def test_a_seed_without_effect_is_reported(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The job has a finding, unless the seed affects held-out queries, the loss or the sampling."""
    dataset_id, other = (
        inline_worker.add(dataset, "d1"),
        inline_worker.add(dataset.select_queries(range(9)), "d2"),
    )
    outcomes: dict[str, dict[str, Any]] = {
        "nothing drawn": {},
        "by column": {"test": {"column": "market", "values": ["de"]}},
        "dataset": {"validation": {"dataset_id": other}},
        "fraction": {"validation": {"fraction": 0.2}},
        "fold": {"test": {"folds": 4, "fold": 1}},
        "loss": {"loss": {"name": "xe-ndcg"}},
        "sampling": {"hyperparameters": SMALL | {"feature_fraction": 0.5}},
    }
    reported = []
    for name, spec in outcomes.items():
        findings = inline_worker.train(dataset_id, seed=9, **spec).findings or []
        if any(finding["code"] == "seed-without-effect" for finding in findings):
            reported.append(name)
    assert reported == ["nothing drawn", "by column", "dataset"]


def test_a_training_stored_before_keeps_its_seeds(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """Stored trainings have a seed of the loss, 0 by default, in addition to that of the job."""
    spec = {"loss": {"name": "xe-ndcg", "seed": 0}, "seed": 42}
    trained = train(training_spec({**spec, "hyperparameters": SMALL, "metrics": ["ndcg@5"]}), dataset)
    result = inline_worker.training_result(inline_worker.add(dataset, "d1"), **spec)
    assert inline_worker.model_text(result) == trained.model_text
    with inline_worker.store.read() as tx:
        assert tx.models.resolve("web").loss == {"name": "xe-ndcg", "seed": 0}


def test_the_first_iteration_is_written_immediately(
    inline_worker: InlineWorker, dataset: RankingDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first iteration is stored without waiting for the next report."""
    settings = inline_worker.settings.model_copy(update={"report_seconds": 3600.0})
    spec = {"dataset_id": inline_worker.add(dataset, "d1"), "model_name": "web", "hyperparameters": SMALL}
    with inline_worker.store.begin() as tx:
        tx.jobs.add("train", {**spec, "loss": {"name": "mse"}})
    run = JobRun.claim_next(inline_worker.store, settings, RUNNERS, "w1")
    assert run is not None
    job_id, report = run.id, run.reporter.report
    recorded: tuple[int, ...] = ()

    def reporting(**values: Any) -> None:
        nonlocal recorded
        report(**values)
        with inline_worker.store.read() as tx:
            progress = tx.jobs.get(job_id).progress or {}
        if values.get("iterations"):
            recorded += (progress.get("iteration", 0),)

    monkeypatch.setattr(run.reporter, "report", reporting)
    run_runner(run)
    # Iterations after the first one wait for the next write.
    assert recorded[: SMALL["num_iterations"]] == (1,) * SMALL["num_iterations"]


def test_times_are_recorded_with_the_curves(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """Each recorded iteration has its times; with an interval, the mean since the previous record."""
    job = inline_worker.train(
        inline_worker.add(dataset, "d1"), metric_interval=2, validation={"fraction": 0.2}
    )
    with inline_worker.store.read() as tx:
        rows = tx.jobs.iterations(job.id)
        (attempt,) = tx.jobs.attempts(job.id)
    assert [row.iteration for row in rows] == [2, 4, 5]
    times = [row.milliseconds or {} for row in rows]
    assert all(set(parts) == {"objective", "tree", "metrics"} and min(parts.values()) > 0 for parts in times)
    assert attempt.phases is not None
    spent = sum(count * sum(parts.values()) for count, parts in zip((2, 2, 1), times, strict=True)) / 1e3
    (training,) = (phase for phase in attempt.phases if phase["phase"] == "training")
    assert spent <= training["seconds"] + 1e-3


def test_features_keep_their_names(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """Features keep names that LightGBM would change, and data may have another order of columns."""
    names = ("page rank", "page_rank", "price:usd", "a", "b", "c")
    named = dataset.with_features(dataset.features, names)
    order = [3, 1, 0, 5, 4, 2]
    turned = dataset.with_features(
        np.ascontiguousarray(dataset.features[:, order]), tuple(names[i] for i in order)
    )
    model_id = inline_worker.training_result(inline_worker.add(named, "named"))["model_id"]
    assert load_model(inline_worker.store, model_id).feature_names == names
    spec = {"model_id": model_id, "metrics": ["ndcg@5"]}
    jobs = [
        inline_worker.run("evaluate", inline_worker.add(data, key), **spec)
        for data, key in ((named, "named"), (turned, "turned"))
    ]
    assert jobs[0].metrics == jobs[1].metrics is not None


def test_damaged_arrays_are_read_again(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """Damaged cache files are replaced from the stored dataset."""
    dataset_id = inline_worker.add(dataset, "d1")
    first = inline_worker.training_result(dataset_id)
    for file in (inline_worker.settings.data_dir / "cache" / "arrays").rglob("features.npy"):
        file.write_bytes(b"damage")
    assert inline_worker.model_text(inline_worker.training_result(dataset_id)) == inline_worker.model_text(
        first
    )
    assert inline_worker.cache_use_times()


def test_a_job_succeeds_without_a_writable_cache(
    inline_worker: InlineWorker, dataset: RankingDataset, settings: WorkerSettings
) -> None:
    """A job succeeds even if the cache folder cannot be used."""
    data_dir = Path(settings.data_dir)
    data_dir.mkdir(exist_ok=True)
    (data_dir / "cache").write_text("not a folder")
    assert (
        inline_worker.train(inline_worker.add(dataset, "d1"), validation={"fraction": 0.3}).status
        == "succeeded"
    )


@pytest.mark.long
def test_a_model_has_a_lineage(inline_worker: InlineWorker, dataset: RankingDataset) -> None:
    """The lineage has the datasets by role with digests, the specification, the seed and the libraries."""
    train_id, test_id = (
        inline_worker.add(dataset, "d1"),
        inline_worker.add(dataset.select_queries(range(9)), "d2"),
    )
    job = inline_worker.train(
        train_id, test_dataset_id=test_id, validation={"fraction": 0.2}, seed=7, limits={"seconds": 60}
    )
    with inline_worker.store.read() as tx:
        lineage = tx.models.resolve("web").lineage
    assert lineage is not None
    assert lineage["datasets"] == {
        "train": {"id": train_id, "digest": "d1", "sha256": None},
        "test": {"id": test_id, "digest": "d2", "sha256": None},
    }
    assert lineage["spec"] == {name: value for name, value in job.spec.items() if name != "limits"}
    assert (lineage["job_id"], lineage["seed"]) == (job.id, 7)
    assert lineage["libraries"]["numpy"] == np.__version__


def test_a_training_without_splits_has_a_finding(
    inline_worker: InlineWorker, dataset: RankingDataset
) -> None:
    """The finding names the parameter that prevents splits, and the scale of the loss."""
    bounded = SMALL | {"min_sum_hessian_in_leaf": 1e6}
    job = inline_worker.train(inline_worker.add(dataset, "d1"), hyperparameters=bounded)
    assert job.status == "succeeded", job.problem
    by_code = {finding["code"]: finding for finding in job.findings or ()}
    assert set(by_code) == {"seed-without-effect", "single-leaf-trees"}
    single_leaf = by_code["single-leaf-trees"]
    assert single_leaf["title"] == "A tree has one leaf: min_sum_hessian_in_leaf = 1e+06 allows no split"
    assert "per query" in single_leaf["advice"]


def test_violated_monotone_constraints_are_reported(inline_worker: InlineWorker) -> None:
    """The job succeeds, with a finding about a constraint that LightGBM's advanced method violates."""
    generator = np.random.default_rng(0)
    features = generator.standard_cauchy(size=(4_000, 3)).astype(np.float32)
    features[generator.random(features.shape) < 0.3] = np.nan
    signal = np.nan_to_num(np.arctan(features[:, 0]) * np.arctan(features[:, 1]))
    labels = np.clip(np.round(signal + generator.normal(scale=0.5, size=4_000) + 1), 0, 4)
    dataset = RankingDataset.from_arrays(features, labels.astype(np.float32), np.arange(0, 4_001, 20))
    constraints = {"monotone_constraints": {"f1": 1, "f2": -1}, "monotone_constraints_method": "advanced"}
    job = inline_worker.train(
        inline_worker.add(dataset, "d1"), hyperparameters=constraints | {"num_iterations": 20}
    )
    assert job.status == "succeeded", job.problem
    by_code = {finding["code"]: finding for finding in job.findings or ()}
    broken = by_code["monotone-constraints-broken"]
    assert "trees violate monotone_constraints: tree" in broken["title"]
    assert "basic does" in broken["advice"]
    assert broken["severity"] == "warning"
