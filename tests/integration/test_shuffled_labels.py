"""A model of shuffled labels, from its training to its promotion."""

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from core.data import read_dataset, write_letor
from rankery.client import Client, Job, Model
from rankery.embedded.stack import EmbeddedStack
from rankery.errors import JobRefused
from tests.integration.requests import not_none
from tests.integration.waiting import LIMIT_SECONDS
from tests.rankery.cli.commands import run

WORSE = "worse-than-baseline"


def _shuffled(path: Path, shuffled: Path) -> Path:
    """Write judged data whose labels are shuffled within each query."""
    dataset = read_dataset(path)
    random = np.random.default_rng(1)
    parts = np.split(dataset.labels, dataset.query_boundaries[1:-1])
    with shuffled.open("wb") as file:
        write_letor(dataset.with_labels(np.concatenate([random.permutation(part) for part in parts])), file)
    return shuffled


def _printed(shown: Job | Model) -> str:
    output = io.StringIO()
    Console(file=output, width=400).print(shown)
    return output.getvalue()


@pytest.mark.embedded
def test_a_model_of_shuffled_labels_is_reported_and_not_promoted(
    client: Client, stack: EmbeddedStack, shared_data: Path, tmp_path: Path
) -> None:
    """Job, evaluation, model and command line show one finding; a gate with baselines refuses the model."""
    corpus = shared_data / "lightgbm-rank"
    files = [_shuffled(corpus / "train.letor.txt", tmp_path / "noise.txt"), corpus / "test.letor.txt"]
    noise, test = (client.upload_dataset(file).wait(timeout_seconds=LIMIT_SECONDS).id for file in files)
    request = {
        "kind": "train",
        "model_name": "noise",
        "dataset_id": noise,
        "test_dataset_id": test,
        "loss": {"name": "lambdarank"},
        "hyperparameters": {"num_iterations": 20, "num_leaves": 7},
        "metrics": ["ndcg@10"],
    }
    job = client.submit(request).wait(timeout_seconds=LIMIT_SECONDS)
    model = job.model()
    (finding,) = [each for each in not_none(model.findings) if each.code == WORSE]
    assert finding.title.startswith("noise is worse than best single feature 0.7024 (p")
    for result in (job, job.evaluation()):
        assert finding.title in [each.title for each in not_none(result.findings)]
    for shown in (job, model):
        assert finding.title in _printed(shown)
    evaluate = ("evaluate", "noise:1", "--dataset", test, "--metric", "ndcg@10")
    for command in (("jobs", "show", job.id), ("models", "show", "noise:1"), evaluate):
        done = run(*command, "--data-dir", stack.data_dir, NO_COLOR="1", COLUMNS="400")
        assert "worse than best single feature 0.7024" in done.output, done.errors
    client.set_alias("noise", "champion", 1)
    again = client.submit(request).wait(timeout_seconds=LIMIT_SECONDS)
    assert again.model().version == 2
    client.set_gate(
        "noise", "champion", {"dataset_id": test, "metric": "ndcg@10", "better_than_baselines": True}
    )
    promotion = client.set_alias("noise", "champion", 2)
    assert isinstance(promotion, Job)
    with pytest.raises(JobRefused, match="noise:2 is worse than best single feature"):
        promotion.wait(timeout_seconds=LIMIT_SECONDS)
    assert client.model("noise@champion").version == 1
