"""Trainings on simulated clicks, corrected and not, measured by the judgments behind the clicks."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from core.clicks.log import ClickLog
from core.clicks.simulation import SimulationPlan, Truth, simulate
from core.clicks.training_data import rows_of_pairs, training_data
from core.clicks.users import UserModel
from core.data import RankingDataset, split_queries
from core.data.synthetic import synthetic_dataset
from core.errors import InvalidInput
from core.evaluation import measure
from core.scorers import read_model
from core.training import train, training_spec
from core.training.checkpoint import Checkpoint
from core.training.measure import Measure
from core.training.models import TrainingCheckpoint
from core.training.networks.checkpoint import NetworkCheckpoint
from core.training.networks.training import train_network
from core.training.spec import EarlyStopping

RANKS = 8


@cache
def logged(kind: str = "pbm", lists: int = 6_000) -> tuple[RankingDataset, ClickLog, Truth]:
    """Return judged documents, and clicks on lists that were ranked by one reversed feature."""
    judged = synthetic_dataset(250, seed=1, documents_per_query=RANKS, n_features=4)
    stream = np.random.default_rng(2)
    labels = np.clip(np.round(2 + 1.2 * (judged.matrix[:, 0] + judged.matrix[:, 1])), 0, 4).astype(np.float32)
    judged = replace(judged, labels=labels)
    ranker = -judged.matrix[:, 0] + 0.2 * stream.normal(size=judged.n_documents)
    log, truth = simulate(judged, [ranker], UserModel(kind), SimulationPlan(lists=lists))
    return judged, log, truth


def spec_of(clicks: dict[str, Any] | None, scorer: str, loss: str, iterations: int = 12) -> Any:
    """Return a specification."""
    values: dict[str, Any] = {
        "loss": {"name": loss},
        "clicks": clicks,
        "hyperparameters": {"num_iterations": iterations, "num_leaves": 8, "learning_rate": 0.2},
        "metrics": ["ndcg@5"],
        "metric_interval": 4,
    }
    if scorer != "trees":
        values |= {
            "scorer": {"kind": scorer, "epochs": iterations, "learning_rate": 0.02}
            | ({"arithmetic": "float64"} if scorer == "linear" else {"hidden": [8]}),
            "hyperparameters": {},
        }
    return training_spec(values)


def clicks_of(correction: str, truth: Truth) -> dict[str, Any]:
    """Return the option of a correction, with the propensities of the truth where it takes any."""
    if correction == "ips":
        return {"correction": correction, "propensities": truth.propensities.tolist()}
    if correction == "affine":
        assert truth.slopes is not None
        assert truth.intercepts is not None
        return {
            "correction": correction,
            "propensities": truth.slopes.tolist(),
            "intercepts": truth.intercepts.tolist(),
        }
    return {"correction": correction}


def trained(spec: Any, dataset: RankingDataset, **arguments: Any) -> Any:
    """Train trees or a network."""
    return (train_network if spec.scorer.is_network else train)(spec, dataset, **arguments)


def ndcg(model: Any, judged: RankingDataset) -> float:
    """Measure a model by the judgments."""
    scores = read_model(model.content).score(judged.matrix, 1)
    return float(np.nanmean(measure(scores, judged, ["ndcg@5"])["ndcg@5"]))


@pytest.mark.parametrize(
    ("correction", "kind", "scorer", "loss"),
    [
        ("ips", "pbm", "trees", "lambdarank"),
        ("ips", "pbm", "linear", "listnet"),
        ("additive", "pbm", "trees", "lambdarank"),
        ("additive", "pbm", "linear", "ranknet"),
        ("ratio", "pbm", "trees", "lambdarank"),
        ("affine", "trust", "trees", "listnet"),
        ("affine", "trust", "linear", "arp-loss1"),
    ],
)
def test_a_corrected_model_orders_better_than_an_uncorrected_one(
    correction: str, kind: str, scorer: str, loss: str
) -> None:
    """If a weak ranker put bad documents first, the corrected model orders better by relevance."""
    judged, log, truth = logged(kind)
    data = training_data(log, judged).dataset
    naive = ndcg(trained(spec_of(None, scorer, loss), data), judged)
    corrected = ndcg(trained(spec_of(clicks_of(correction, truth), scorer, loss), data), judged)
    assert corrected > naive + 0.01


@pytest.mark.parametrize(
    ("correction", "scorer"),
    [
        ("ips", "trees"),
        ("additive", "trees"),
        ("ratio", "trees"),
        ("additive", "linear"),
        ("ratio", "linear"),
        ("dual", "trees"),
        ("dual", "linear"),
        pytest.param("dual", "mlp", marks=pytest.mark.slow),
    ],
)
def test_a_resumed_training_gives_the_same_bytes(correction: str, scorer: str) -> None:
    """Trainings resumed from checkpoint files give the same bytes, which differ without the correction."""
    judged, log, truth = logged(lists=800)
    data = training_data(log, judged).dataset
    loss = "listnet" if correction == "dual" else "ranknet"
    spec = spec_of(clicks_of(correction, truth), scorer, loss, iterations=7)
    files: list[bytes] = []

    def keep(_: Any, snapshot: Any) -> None:
        checkpoint: TrainingCheckpoint = snapshot()
        files.append(checkpoint.to_bytes())

    whole = trained(spec, data, on_iteration=keep)
    reader = Checkpoint if scorer == "trees" else NetworkCheckpoint
    for done in (1, 3, 4, 6):  # before and after measured iterations
        resumed = trained(spec, data, resume=reader.from_bytes(files[done - 1]))
        assert resumed.content == whole.content
        assert resumed.propensities == whole.propensities
    assert whole.content != trained(replace(spec, clicks=None), data).content


def test_an_epoch_that_held_out_clicks_selected_is_not_kept() -> None:
    """Checkpoints of earlier releases have the weights of such an epoch."""
    judged, log, truth = logged(lists=800)
    data = training_data(log, judged).dataset
    spec = spec_of(clicks_of("additive", truth), "linear", "ranknet", iterations=4)
    checkpoints: list[NetworkCheckpoint] = []
    whole = train_network(spec, data, data, lambda _, snapshot: checkpoints.append(snapshot()))
    first, later = checkpoints[0], checkpoints[2]
    selected = replace(later, best_weights=first.weights, best_iteration=1, best_value=0.5)
    resumed = train_network(spec, data, data, resume=selected)
    assert (resumed.content, resumed.best_iteration) == (whole.content, whole.best_iteration)


def test_early_stopping_weighs_held_out_clicks_by_propensities() -> None:
    """Unweighted clicks prefer the first iterations, which are close to the logged ranking."""
    judged = synthetic_dataset(200, seed=0, documents_per_query=RANKS, n_features=6, noise=1.0)
    log, truth = simulate(judged, [judged.matrix[:, 1]], UserModel(), SimulationPlan(lists=6_000))
    kept, held_out = split_queries(training_data(log, judged).dataset, 0.2, seed=1)
    without_ranks = replace(held_out, document_columns={})
    spec = spec_of(clicks_of("ips", truth), "trees", "lambdarank", iterations=40)
    spec = replace(spec, early_stopping=EarlyStopping("ndcg@5", 10), metric_interval=1)
    weighted, unweighted = (train(spec, kept, each) for each in (held_out, without_ranks))
    assert ndcg(weighted, judged) > ndcg(unweighted, judged) + 0.03

    scores = held_out.matrix[:, 0].astype(np.float64)
    values = measure(scores, held_out, ["ndcg@5"])["ndcg@5"]
    factors = 1.0 / truth.propensities[[int(rank) - 1 for rank in held_out.document_columns["rank"]]]
    weights = np.add.reduceat(factors * held_out.labels, held_out.query_boundaries[:-1])
    assert Measure(spec, held_out)(scores)["ndcg@5"] == pytest.approx(
        (weights * values).sum() / weights.sum()
    )
    assert Measure(spec, without_ranks)(scores)["ndcg@5"] == pytest.approx(values.mean())


@pytest.mark.parametrize(("scorer", "iterations", "tolerance"), [("linear", 40, 0.12), ("trees", 40, 0.16)])
def test_dual_learning_finds_the_propensities(scorer: str, iterations: int, tolerance: float) -> None:
    """A ranker and the propensities of its clicks are learnt together, without an experiment on users."""
    judged, log, truth = logged()
    data = training_data(log, judged).dataset
    naive = trained(spec_of(None, scorer, "listnet", iterations), data)
    dual = trained(spec_of({"correction": "dual", "step": 0.3}, scorer, "listnet", iterations), data)
    assert naive.propensities is None
    assert ndcg(dual, judged) > ndcg(naive, judged) + 0.2
    assert dual.propensities[0] == 1.0
    np.testing.assert_allclose(dual.propensities, truth.propensities / truth.propensities[0], atol=tolerance)


def test_impressions_of_documents_without_features_are_reported() -> None:
    """The severity is info if the dataset has many of the queries, and warning if it has few."""
    judged, log, _ = logged(lists=300)
    queries = np.array([log.query_ids[query] for query in log.list_queries])[log.list_of_impression]
    for n_kept, severity in ((judged.n_queries - 1, "info"), (1, "warning")):
        features = judged.select_queries(range(n_kept))
        (finding,) = training_data(log, features).findings
        absent = ~np.isin(queries, features.query_ids)
        assert (finding.code, finding.severity) == ("documents-without-features", severity)
        assert (finding.count, finding.total) == (absent.sum(), log.n_impressions)
        assert set(finding.examples) <= set(queries[absent])


def test_each_list_with_a_click_becomes_a_query() -> None:
    """Each list with a click becomes a query with its clicks, shown ranks and the documents' features."""
    judged, log, _ = logged(lists=300)
    log = log.take_lists(np.arange(40))
    rows = rows_of_pairs(log, judged)
    assert [judged.document_ids[row] for row in rows[:5]] == [
        log.document_ids[d] for d in log.pair_documents[:5]
    ]
    found = training_data(log, judged)
    clicks = np.add.reduceat(log.clicks, log.list_boundaries[:-1])
    assert found.dataset.n_queries == (clicks > 0).sum()
    assert found.left_out == (clicks == 0).sum()
    assert found.findings == ()
    first = int(np.flatnonzero(clicks)[0])
    shown = slice(*log.list_boundaries[first : first + 2])
    assert found.dataset.query_ids[0] == f"{log.query_ids[log.list_queries[first]]}/{first + 1}"
    np.testing.assert_array_equal(found.dataset.labels[:RANKS], log.clicks[shown])
    np.testing.assert_array_equal(found.dataset.matrix[:RANKS], judged.matrix[rows[log.pairs[shown]]])
    assert found.dataset.document_columns["rank"][:RANKS] == [str(rank) for rank in range(1, RANKS + 1)]
    with pytest.raises(InvalidInput, match="has none of the clicked documents of the log"):
        training_data(log, replace(judged, query_ids=tuple(f"q{name}" for name in judged.query_ids)))
