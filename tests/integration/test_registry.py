"""The registry on real servers: a gate, an import and a reproduced training."""

import subprocess
import sys
from pathlib import Path

import pytest

from rankery.client import Client, Job, Model
from rankery.errors import JobFailed, JobRefused, RankeryApiError
from tests.integration.requests import not_none, train_job
from tests.integration.waiting import LIMIT_SECONDS

TRAIN_ELSEWHERE = """
import sys
import lightgbm, numpy as np
random = np.random.default_rng(1)
features = random.normal(size=(300, 10))
data = lightgbm.Dataset(features, features[:, 0], feature_name=[f"f{i}" for i in range(1, 11)])
booster = lightgbm.train({"num_leaves": 7, "verbosity": -1}, data, num_boost_round=3)
booster.save_model(sys.argv[1])
"""


def _wait_for_end(job: Job | Model) -> Job:
    assert isinstance(job, Job)
    return job.wait(timeout_seconds=LIMIT_SECONDS)


def test_only_a_better_model_passes_the_gate(client: Client, datasets: dict[str, str]) -> None:
    """A worse model is refused with a sentence; a better one is promoted, and a rollback undoes that."""
    weak, strong = (
        _wait_for_end(client.submit(train_job(datasets, model_name="gated", num_iterations=n)))
        for n in (1, 40)
    )
    assert weak.made("model_id") != strong.made("model_id")
    client.set_alias("gated", "champion", 1)
    client.set_gate(
        "gated", "champion", {"dataset_id": datasets["test"], "metric": "ndcg@10", "require": "better"}
    )
    promoted = _wait_for_end(client.set_alias("gated", "champion", 2))
    assert promoted.kind == "promote"
    assert "gated:2 is better than gated:1 by ndcg@10" in not_none(promoted.result)["sentence"]
    with pytest.raises(JobRefused, match=r"gated:1 is worse than gated:2 by ndcg@10"):
        _wait_for_end(client.set_alias("gated", "champion", 1))
    assert client.model("gated@champion").version == 2
    assert client.roll_back("gated", "champion").version == 1
    with pytest.raises(RankeryApiError, match="gate gated@champion compares versions on it"):
        client.delete_dataset(datasets["test"])


@pytest.mark.slow
def test_a_model_trained_in_another_process_can_be_imported(client: Client, tmp_path: Path) -> None:
    """The imported model ranks; a model text that crashes LightGBM fails only its job."""
    path = tmp_path / "model.txt"
    subprocess.run([sys.executable, "-c", TRAIN_ELSEWHERE, str(path)], check=True)
    imported = _wait_for_end(client.import_model(path, "elsewhere"))
    model = imported.model()
    assert (model.name, model.source, model.best_iteration) == ("elsewhere", "imported", 3)
    documents = [{"id": str(value), "features": {"f1": value}} for value in (-1.0, 1.0)]
    ranking = client.rank("elsewhere", [{"id": "q", "documents": documents}]).queries[0].ranking
    assert [document.id for document in ranking] == ["1.0", "-1.0"]
    lines = path.read_text().split("\n")
    tampered = [
        "tree_sizes=" + "1000000000 " * 1000 if line.startswith("tree_sizes=") else line for line in lines
    ]
    path.write_text("\n".join(tampered))
    with pytest.raises(JobFailed, match="failed: LightGBM crashed while loading the model"):
        _wait_for_end(client.import_model(path, "elsewhere"))
    assert client.model("elsewhere").version == 1


def test_a_model_is_reproduced(client: Client, trained: Job) -> None:
    """A job reproduces the model byte for byte."""
    result = not_none(_wait_for_end(trained.model().reproduce()).result)
    assert result["equal"], result
    assert result["differences"] == []
