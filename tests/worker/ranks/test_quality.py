"""Models of ranks and of one process do not differ significantly on synthetic and public data."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from core.data import RankingDataset, read_dataset, synthetic_dataset
from core.evaluation import measure
from core.evaluation.randomisation import randomisation_p_values
from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.training import train, training_spec
from core.types import Float64Array
from tests.worker.inline_worker import InlineWorker
from tests.worker.ranks.threads import trained
from tests.worker.ranks.trainings import ranks

METRIC = "ndcg@10"
HYPERPARAMETERS = {"num_iterations": 30, "num_leaves": 15, "min_data_in_leaf": 10}
SIGNIFICANT = 0.05


@pytest.mark.long
def test_ranks_have_the_quality_of_one_process_on_synthetic_data(tmp_path: Path) -> None:
    """Models trained on 200 queries are measured on 200 others; the ranks are threads."""
    learnt, tested = (
        synthetic_dataset(200, seed=seed, polynomial_seed=1, documents_per_query=20, n_features=20)
        for seed in (5, 6)
    )
    spec = training_spec({"loss": {"name": "lambdarank"}, "hyperparameters": HYPERPARAMETERS})
    texts = (train(spec, learnt).model_text, trained(spec, learnt, 2, tmp_path))
    scores = [Forest(ModelText.read(text)).score(tested.features) for text in texts]
    _assert_alike(*(measure(each, tested, [METRIC])[METRIC] for each in scores))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "number"),
    [("lightgbm-rank/train.letor.txt", 2), ("fastrank-trec-news/trec_news_2018.train", 3)],
)
def test_ranks_have_the_quality_of_one_process_on_public_data(
    inline_worker: InlineWorker, shared_data: Path, file: str, number: int
) -> None:
    """Each half of a file's queries is measured with the model of the other half."""
    _check_alike(inline_worker, read_dataset(shared_data / file), number)


def _check_alike(inline_worker: InlineWorker, dataset: RankingDataset, n_ranks: int) -> None:
    ids = [inline_worker.add(half, f"half-{number}") for number, half in enumerate(_halves(dataset))]
    alone = _held_out(inline_worker, ids)
    _assert_alike(alone, _held_out(inline_worker, ids, distribution=ranks(n_ranks)))


def _halves(dataset: RankingDataset) -> tuple[RankingDataset, RankingDataset]:
    first, second = (dataset.select_queries(np.arange(start, dataset.n_queries, 2)) for start in (0, 1))
    return first, second


def _assert_alike(alone: Float64Array, together: Float64Array) -> None:
    """Assert that the metrics of a model of one process and of one of ranks do not differ significantly."""
    is_measured = np.isfinite(alone)  # a query without relevant documents has no value
    differences = (together - alone)[is_measured]
    (p_value,) = randomisation_p_values(differences[:, None])
    assert np.array_equal(is_measured, np.isfinite(together))
    assert p_value >= SIGNIFICANT, (alone[is_measured].mean(), together[is_measured].mean())


def _held_out(inline_worker: InlineWorker, halves: list[str], **spec: Any) -> Float64Array:
    """Return the metric of each query with the model that was trained on the other half."""
    values = []
    for learnt, tested in (halves, halves[::-1]):
        result = inline_worker.training_result(
            learnt, test_dataset_id=tested, metrics=[METRIC], hyperparameters=HYPERPARAMETERS, **spec
        )
        with inline_worker.store.artifacts.open(
            f"evaluations/{result['evaluation_id']}/queries.parquet"
        ) as file:
            values.append(pq.read_table(file)[METRIC].to_numpy())
    return np.concatenate(values)
