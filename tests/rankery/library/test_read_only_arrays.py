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
    arguments: dict[str, Any] = {
        "features": generator.normal(size=(N_DOCUMENTS, 4)).astype(np.float32),
        "labels": generator.integers(0, 3, N_DOCUMENTS).astype(float),
        "scores": generator.normal(size=N_DOCUMENTS),
        "weights": generator.uniform(0.5, 2.0, N_DOCUMENTS),
        "queries": np.repeat(np.arange(N_QUERIES), N_DOCUMENTS // N_QUERIES),
        "sizes": np.full(N_QUERIES, N_DOCUMENTS // N_QUERIES),
        "before": generator.random(40),
        "after": generator.random(40),
    }
    for each in arguments.values():
        each.flags.writeable = writable
    return arguments


def _evaluated(arrays: dict[str, Any]) -> list[Any]:
    means = [
        evaluate(
            arrays["scores"], arrays["labels"], arrays["queries"], metrics=METRICS, contract=contract
        ).means
        for contract in ("default", "trec_eval")
    ]
    return [*means, compare(arrays["before"], arrays["after"], permutations=500).sentence]


def _derived(arrays: dict[str, Any]) -> list[Any]:
    arguments = (arrays["labels"], arrays["scores"], arrays["weights"], arrays["sizes"])
    results: list[Any] = [metric("ndcg@5")(*arguments)]
    for name in LOSSES:
        loss = objective(name)
        results += [each.tolist() for each in loss(*arguments)]
        data = lightgbm.Dataset(arrays["features"], arrays["labels"], group=arrays["sizes"]).construct()
        results += [each.tolist() for each in loss(arrays["scores"], data)]
    return results


def _fitted(arrays: dict[str, Any]) -> list[Any]:
    ranker = RankeryRanker(num_iterations=3, n_jobs=1).fit(
        arrays["features"], arrays["labels"], groups=arrays["queries"], sample_weight=arrays["weights"]
    )
    score = ranker.score(arrays["features"], arrays["labels"], groups=arrays["queries"])
    return [ranker.predict(arrays["features"]).tolist(), score]


WORKS = (_evaluated, _derived, _fitted)


@pytest.mark.parametrize("work", WORKS)
def test_a_read_only_array_gives_the_same_numbers(work: Any) -> None:
    """Results from read-only and writable arrays have equal bits."""
    assert work(arrays(writable=False)) == work(arrays(writable=True))
