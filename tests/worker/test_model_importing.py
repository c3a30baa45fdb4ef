"""Imports of models that were trained elsewhere."""

import hashlib
import re
import sys
from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np
import pandas
import pytest
from safetensors.numpy import save

from core.data import synthetic_dataset
from core.errors import ModelError
from core.export import export_model, parity
from core.scorers import Member, Sum, write_network, write_sum
from core.scorers.gradients import explanation_steps
from core.scorers.trial import TriedModel, try_file
from core.store import Job
from core.store.artifacts.keys import model_key, model_upload_key
from core.subprocesses import harmless_environment, module_environment
from tests.core.scorers.networks import random_network
from tests.core.scoring.forests import random_model_text
from tests.servers.fixtures import artifact_keys
from tests.worker.inline_worker import InlineWorker
from worker.job.lease import WorkerStopping
from worker.job.run import JobRun
from worker.job.systems import load_model
from worker.process.tasks import RUNNERS
from worker.runners.imports import try_model

DATASET = synthetic_dataset(30, seed=1, documents_per_query=10, n_features=4)


@pytest.fixture(scope="module")
def model_text() -> str:
    """The text of a model that LightGBM trains and saves."""
    data = lightgbm.Dataset(
        DATASET.features, np.asarray(DATASET.labels), feature_name=list(DATASET.feature_names)
    )
    parameters = {"num_leaves": 7, "min_data_in_leaf": 5, "verbosity": -1}
    return str(lightgbm.train(parameters, data, num_boost_round=4).model_to_string())


def _content(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode(errors="surrogateescape")


def _queue(inline_worker: InlineWorker, text: str | bytes, name: str = "web") -> str:
    content = _content(text)
    inline_worker.store.artifacts.write_bytes(model_upload_key("mup_1"), content)
    spec = {
        "kind": "import-model",
        "upload_id": "mup_1",
        "model_name": name,
        "description": "from a notebook",
        "tags": {"team": "search"},
        "filename": "model.txt",
        "sha256": hashlib.sha256(content).hexdigest(),
        "size_bytes": len(content),
    }
    with inline_worker.store.begin() as tx:
        return tx.jobs.add("import-model", spec).id


def _run_import(inline_worker: InlineWorker, text: str | bytes) -> Job:
    return inline_worker.run_queued(_queue(inline_worker, text))


def _artifacts(inline_worker: InlineWorker) -> list[str]:
    return [key for key in artifact_keys(inline_worker.settings.storage_url) if "/" in key]


def _sizes(text: str, sizes: str) -> str:
    return re.sub(r"(?m)^tree_sizes=.*$", f"tree_sizes={sizes}", text)


@pytest.mark.parametrize(
    ("is_ordered", "categorical", "is_assigned"),
    [(False, "auto", True), (True, "auto", False), (False, ["shop"], False)],
)
def test_lists_of_categories_of_unknown_columns_are_reported(
    inline_worker: InlineWorker, is_ordered: bool, categorical: Any, is_assigned: bool
) -> None:
    """LightGBM lists the categories of all category columns, but splits by unordered or named ones."""
    sizes, shops = np.arange(200) % 4, np.arange(200) % 30
    colours = pandas.Categorical(sizes * 10, ordered=is_ordered)
    frame = pandas.DataFrame({"colour": colours, "shop": shops, "price": np.arange(200.0)})
    data = lightgbm.Dataset(frame, sizes + shops % 2, categorical_feature=categorical)
    text = str(lightgbm.train({"verbosity": -1, "min_data_per_group": 1}, data, 2).model_to_string())
    job = _run_import(inline_worker, text)
    assert job.status == "succeeded", job.problem
    codes = [finding["code"] for finding in job.findings or ()]
    assert codes == ([] if is_assigned else ["unassigned-categories"])
    with inline_worker.store.read() as tx:
        model = tx.models.resolve("web:1")
    assert model.findings == job.findings
    assert bool(load_model(inline_worker.store, model.id).categories) == is_assigned


@pytest.mark.long
def test_an_imported_model_can_be_evaluated(inline_worker: InlineWorker, model_text: str) -> None:
    """The model is the next version of its name, has the imported text, and can be evaluated."""
    dataset_id = inline_worker.add(DATASET, "d1")
    inline_worker.training_result(dataset_id)
    job = _run_import(inline_worker, model_text)
    assert job.status == "succeeded", job.problem
    with inline_worker.store.read() as tx:
        model = tx.models.resolve("web:2")
    assert (model.job_id, model.source, model.dataset_id, model.loss) == (job.id, "imported", None, None)
    assert (model.feature_names, model.best_iteration) == (list(DATASET.feature_names), 4)
    assert (model.description, model.tags) == ("from a notebook", {"team": "search"})
    assert model.lineage is not None
    assert model.lineage["spec"]["filename"] == "model.txt"
    assert job.result is not None
    assert inline_worker.model_text(job.result) == model_text
    assert hashlib.sha256(model_text.encode()).hexdigest() == model.sha256
    evaluation = inline_worker.run("evaluate", dataset_id, model_id=model.id, metrics=["ndcg@5"])
    assert evaluation.status == "succeeded", evaluation.problem
    assert not any(key.startswith("model-uploads/") for key in _artifacts(inline_worker))


@pytest.mark.usefixtures("tried_here")
def test_a_text_with_line_ends_of_windows_is_imported(inline_worker: InlineWorker, model_text: str) -> None:
    """The model is stored with line feeds, to which LightGBM's `tree_sizes` refers."""
    job = _run_import(inline_worker, model_text.replace("\n", "\r\n"))
    assert job.status == "succeeded", job.problem
    assert job.result is not None
    assert inline_worker.model_text(job.result) == model_text
    with inline_worker.store.read() as tx:
        model = tx.models.get(job.result["model_id"])
    content = model_text.encode()
    assert (model.sha256, model.size_bytes) == (hashlib.sha256(content).hexdigest(), len(content))


@pytest.mark.usefixtures("tried_here")
def test_names_that_lightgbm_does_not_allow_are_restored_by_an_import(inline_worker: InlineWorker) -> None:
    """The model records the spelling in its text, and an import of the text has the same features."""
    names = ("a b", "a_b", "größe", "price:usd")
    dataset_id = inline_worker.add(replace(DATASET, feature_names=names), "d1")
    text = inline_worker.model_text(inline_worker.training_result(dataset_id))
    job = _run_import(inline_worker, text)
    assert job.status == "succeeded", job.problem
    with inline_worker.store.read() as tx:
        trained, imported = tx.models.resolve("web:1"), tx.models.resolve("web:2")
    spelled = {"a b": "a_b_", "price:usd": "price_usd"}
    for model in (trained, imported):
        assert model.feature_names == list(names)
        assert model.lineage is not None
        assert model.lineage["names_in_file"] == spelled
    notes = parity(export_model(text, "lightgbm", names)).notes
    (note,) = notes
    assert (
        note
        == "LightGBM's text format does not allow every name: `a b` is `a_b_`, `price:usd` is `price_usd`."
    )


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("foreign", "not a LightGBM text model; upload the scores"),
        ("cut", "not a complete LightGBM text model"),
        ("bytes", "not a LightGBM text model; upload the scores"),
        ("classes", "one score per document"),
        ("nested", "pandas_categorical, is not JSON"),
        ("fewer", "scores of Rankery and LightGBM differ"),
    ],
)
def test_a_hostile_text_is_refused(model_text: str, case: str, words: str) -> None:
    """The trial of a model refuses the text with a reason."""
    text = {
        "foreign": "%PDF-1.7",
        "cut": model_text[: len(model_text) // 2],
        "bytes": "tree\udcff",
        "classes": model_text.replace("num_class=1", "num_class=3"),
        "nested": re.sub(r"(?s)pandas_categorical:.*", "pandas_categorical:" + "[" * 100_000, model_text),
        "fewer": re.sub(r"(?m)^(tree_sizes=.*) \d+$", r"\1", model_text),
    }[case]
    with pytest.raises(ModelError, match=words):
        try_file(_content(text), 100)


@pytest.mark.long
def test_a_hostile_text_fails_its_job_only(inline_worker: InlineWorker, model_text: str) -> None:
    """LightGBM crashes in a separate process; the problem reports the crash, and no artifact is kept."""
    job = _run_import(inline_worker, _sizes(model_text, " ".join(["1000000000"] * 1000)))
    assert (job.status, job.attempt) == ("failed", 1)
    assert job.problem is not None
    assert job.problem["title"] == "Model cannot be used"
    assert "LightGBM crashed while loading the model" in job.problem["detail"]
    assert _artifacts(inline_worker) == []
    with inline_worker.store.read() as tx:
        assert tx.models.page(None, 10).items == []


@pytest.mark.long
@pytest.mark.parametrize("hidden", [pytest.param((), marks=pytest.mark.slow), (5, 3)])
def test_an_imported_network_can_be_evaluated(inline_worker: InlineWorker, hidden: tuple[int, ...]) -> None:
    """The file is kept byte for byte with its structure; the model can be explained and evaluated."""
    network = random_network(4, hidden, layer_norm=True, log1p=True, missing_indicators=True)
    network = replace(network, feature_names=tuple(DATASET.feature_names))
    content = write_network(network)
    job = _run_import(inline_worker, content)
    assert job.status == "succeeded", job.problem
    with inline_worker.store.read() as tx:
        model = tx.models.resolve("web")
    assert (model.source, model.kind, model.best_iteration) == ("imported", network.kind, 0)
    structure = {"hidden": list(hidden), "activation": "relu", "layer_norm": True} if hidden else {}
    inputs = {"inputs": "standard", "log1p": True, "missing_indicators": True}
    assert model.scorer == {"kind": network.kind, **inputs, **structure}
    assert model.feature_names == list(DATASET.feature_names)
    assert model.explanation == {"problem": None, "steps": explanation_steps(network)}
    assert inline_worker.store.verified.read_bytes(model_key(model.id), model.sha256) == content
    evaluation = inline_worker.run(
        "evaluate", inline_worker.add(DATASET, "d1"), model_id=model.id, metrics=["ndcg@5"]
    )
    assert evaluation.status == "succeeded", evaluation.problem


@pytest.mark.slow
def test_a_sum_is_imported_if_its_members_are_valid(inline_worker: InlineWorker, model_text: str) -> None:
    """Each member is tried like a single model; a member that crashes LightGBM is refused."""
    names = tuple(DATASET.feature_names)
    network = replace(random_network(4, (3,)), feature_names=names)
    for text, status in ((model_text, "succeeded"), (_sizes(model_text, "1000000000 " * 1000), "failed")):
        members = (
            Member("net:1", write_network(network), names, 0.25),
            Member("web:3", text.encode(), names, 2.0),
        )
        job = _run_import(inline_worker, write_sum(Sum(members, names)))
        assert job.status == status, job.problem
    with inline_worker.store.read() as tx:
        (model,) = tx.models.page(None, 10).items
    assert model.scorer == {"kind": "sum", "models": ["net:1", "web:3"], "weights": [0.25, 2.0]}
    assert model.explanation is not None
    assert model.explanation["problem"] is None


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("foreign", "not a model of Rankery"),
        ("cut", "damaged"),
        ("infinite", "layers.0.weights of the network has values that are not finite"),
        ("names", "must have 1 to 1,000 printable characters"),
        ("nameless", "must have 1 to 1,000 printable characters"),
        ("huge", "score of a random document"),
    ],
)
def test_a_hostile_network_is_refused(case: str, words: str) -> None:
    """Foreign and damaged files, values that are not finite and invalid names are refused with a reason."""
    network = replace(random_network(4, (3,)), feature_names=tuple(DATASET.feature_names))
    if case == "infinite":
        network.layers[0].weights[0, 0] = np.inf
    if case == "huge":
        network.inputs.means[:] = 1e308
        network.inputs.deviations[:] = 1e-300
    if case in ("names", "nameless"):
        last = "\x1b[31m" if case == "names" else ""
        network = replace(network, feature_names=("a", "b", "c", last))
    content = write_network(network)
    content = {"foreign": save({"x": np.zeros(3)}), "cut": content[:-4]}.get(case, content)
    with pytest.raises(ModelError, match=words):
        try_file(bytes(content), 100)


def test_each_member_of_a_sum_is_tried(model_text: str) -> None:
    """Each member is tried like a single model."""
    names = tuple(DATASET.feature_names)
    network = write_network(replace(random_network(4, (3,)), feature_names=names))

    def tried(text: str) -> TriedModel:
        members = Member("net:1", network, names, 0.25), Member("web:3", text.encode(), names, 2.0)
        return try_file(write_sum(Sum(members, names)), 100)

    assert (tried(model_text).scorer or {})["models"] == ["net:1", "web:3"]
    with pytest.raises(ModelError, match="scores of Rankery and LightGBM differ"):
        tried(re.sub(r"(?m)^(tree_sizes=.*) \d+$", r"\1", model_text))


@pytest.mark.long
def test_a_model_that_takes_too_long_is_refused(inline_worker: InlineWorker) -> None:
    """The system ends the process at its time limit, since the process may ignore requests to end."""
    _queue(inline_worker, random_model_text(np.random.default_rng(1), 4, 120, 200))
    run = JobRun.claim_next(inline_worker.store, inline_worker.settings, RUNNERS, "w1")
    assert run is not None
    with (
        pytest.raises(ModelError, match="could not be loaded within"),
        inline_worker.store.artifacts.local(model_upload_key("mup_1")) as path,
    ):
        try_model(run, path, base_seconds=0)  # the system rounds the limit up to 1


@pytest.mark.parametrize(
    "answer",
    [
        "not JSON",
        "[]",
        pytest.param("[" * 10_000, id="deep"),
        '{"feature_names": ["a"]}',
        '{"feature_names": ["\\u001b"], "best_iteration": 1, "scorer": null,'
        ' "explainability": {"problem": null, "steps": 1}}',
        '{"feature_names": [1], "best_iteration": 1, "scorer": null,'
        ' "explainability": {"problem": null, "steps": 1}}',
        '{"feature_names": ["a"], "best_iteration": "many", "scorer": null,'
        ' "explainability": {"problem": null, "steps": 1}}',
    ],
)
def test_the_answer_of_a_trial_is_checked(
    inline_worker: InlineWorker, model_text: str, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    """A malicious model may control the process and its answer."""
    command = [sys.executable, "-c", f"print({answer!r})"]
    monkeypatch.setattr("worker.runners.imports.module_command", lambda *_: command)
    job = _run_import(inline_worker, model_text)
    assert job.problem is not None
    assert job.problem["title"] == "Model cannot be used"
    assert _artifacts(inline_worker) == []


def test_the_trial_has_no_secrets_in_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has the variables of packages, caches and memory, and no others."""
    for name in ("RANKERY_DATABASE_URL", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "HF_TOKEN", "DATABASE_DSN"):
        monkeypatch.setenv(name, "secret")
    kept = {"NUMBA_CACHE_DIR": "/var/cache/kernels", "LD_PRELOAD": "", "MALLOC_CONF": "narenas:2"}
    for name, value in kept.items():
        monkeypatch.setenv(name, value)
    environment = module_environment(harmless_environment())
    assert "secret" not in environment.values()
    assert kept.items() <= environment.items()
    assert environment["PATH"]


@pytest.mark.long
def test_a_stopped_job_does_not_wait_for_the_trial(inline_worker: InlineWorker, model_text: str) -> None:
    """The trial process ends with the job, and the upload is kept for a later attempt."""
    _queue(inline_worker, model_text)
    run = JobRun.claim_next(inline_worker.store, inline_worker.settings, RUNNERS, "w1")
    assert run is not None
    run.reporter.phase("checking")
    run.lease.interrupt(WorkerStopping())
    with (
        pytest.raises(WorkerStopping),
        inline_worker.store.artifacts.local(model_upload_key("mup_1")) as path,
    ):
        try_model(run, path)
    run.release()
    assert inline_worker.store.artifacts.exists(model_upload_key("mup_1"))
