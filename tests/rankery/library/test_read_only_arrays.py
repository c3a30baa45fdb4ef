"""The same kernels compute on read-only arrays, such as those of polars and Arrow.

tests/worker/test_warm_up.py shows that none is compiled for them.
"""

from typing import Any

import lightgbm
import numpy as np
import pytest

from rankery.comparison import compare
from rankery.lightgbm import metric, objective
from rankery.metrics import evaluate
from rankery.sklearn import RankeryRanker

N_QUERIES, N_DOCUMENTS = 20, 200
METRICS = ("ndcg@10", "map", "mrr", "err", "rbp", "precision@5", "bpref", "auc", "pairwise-accuracy", "arp")
LOSSES = ("mse", "ranknet", "ranksvm", "rankboost", "lambdarank", "ndcg-loss2++", "listnet")


def arrays(*, writable: bool) -> dict[str, Any]:
    """Return the arguments of all functions under test."""
    generator = np.random.default_rng(0)
    made: dict[str, Any] = {
        "features": generator.normal(size=(N_DOCUMENTS, 4)).astype(np.float32),
        "labels": generator.integers(0, 3, N_DOCUMENTS).astype(float),
        "scores": generator.normal(size=N_DOCUMENTS),
        "weights": generator.uniform(0.5, 2.0, N_DOCUMENTS),
        "queries": np.repeat(np.arange(N_QUERIES), N_DOCUMENTS // N_QUERIES),
        "sizes": np.full(N_QUERIES, N_DOCUMENTS // N_QUERIES),
        "before": generator.random(40),
        "after": generator.random(40),
    }
    for each in made.values():
        each.flags.writeable = writable
    return made


def _evaluated(given: dict[str, Any]) -> list[Any]:
    found = [
        evaluate(given["scores"], given["labels"], given["queries"], metrics=METRICS, contract=contract).means
        for contract in ("default", "trec_eval")
    ]
    return [*found, compare(given["before"], given["after"], permutations=500).sentence]


def _derived(given: dict[str, Any]) -> list[Any]:
    arguments = (given["labels"], given["scores"], given["weights"], given["sizes"])
    found: list[Any] = [metric("ndcg@5")(*arguments)]
    for name in LOSSES:
        loss = objective(name)
        found += [each.tolist() for each in loss(*arguments)]
        data = lightgbm.Dataset(given["features"], given["labels"], group=given["sizes"]).construct()
        found += [each.tolist() for each in loss(given["scores"], data)]
    return found


def _fitted(given: dict[str, Any]) -> list[Any]:
    ranker = RankeryRanker(num_iterations=3, n_jobs=1).fit(
        given["features"], given["labels"], groups=given["queries"], sample_weight=given["weights"]
    )
    score = ranker.score(given["features"], given["labels"], groups=given["queries"])
    return [ranker.predict(given["features"]).tolist(), score]


WORKS = (_evaluated, _derived, _fitted)


@pytest.mark.parametrize("work", WORKS)
def test_a_read_only_array_gives_the_same_numbers(work: Any) -> None:
    """Results from read-only and writable arrays have equal bits."""
    assert work(arrays(writable=False)) == work(arrays(writable=True))
