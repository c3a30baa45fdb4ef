"""Agreement with other tools, under the presets that have their conventions."""

import ir_measures
import lightgbm
import numpy as np
import pytest
import pytrec_eval
import xgboost
from ir_measures import AP, Bpref, P, R, nDCG

from core.metrics import PRESETS, conventions, parse_metric, preset_of
from core.types import Float64Array, Int64Array
from tests.examples import examples

N_QUERIES = 400
# scikit-learn takes a millisecond a query.
SCORED_ONE_BY_ONE = examples(N_QUERIES)


class _Judged:
    """Queries with ties, graded labels, queries without a relevant document and short lists."""

    def __init__(self) -> None:
        generator = np.random.default_rng(3)
        self.lengths = generator.integers(1, 40, N_QUERIES)
        self.boundaries: Int64Array = np.concatenate(([0], np.cumsum(self.lengths)))
        n = int(self.boundaries[-1])
        self.labels: Float64Array = generator.choice(5, n, p=[0.5, 0.2, 0.15, 0.1, 0.05]).astype(float)
        for query in range(0, N_QUERIES, 10):
            self.labels[self.rows(query)] = 0.0
        # Halves are exact in float32, in which other tools compare scores.
        self.scores: Float64Array = np.round(2 * generator.standard_normal(n)) / 2

        # Ids have different lengths and characters, so that their order as text is not the input order.
        self.document_ids = [f"d{generator.integers(1000)}-{row}" for row in range(n)]

    def qrels(self) -> dict[str, dict[str, int]]:
        """Return the labels as trec_eval's Python packages take them."""
        return {
            str(query): {self.document_ids[row]: int(self.labels[row]) for row in self._numbers(query)}
            for query in range(N_QUERIES)
        }

    def run(self) -> dict[str, dict[str, float]]:
        """Return the scores as trec_eval's Python packages take them."""
        return {
            str(query): {self.document_ids[row]: float(self.scores[row]) for row in self._numbers(query)}
            for query in range(N_QUERIES)
        }

    def _numbers(self, query: int) -> range:
        return range(int(self.boundaries[query]), int(self.boundaries[query + 1]))

    def rows(self, query: int) -> slice:
        """Return the rows of a query."""
        return slice(int(self.boundaries[query]), int(self.boundaries[query + 1]))


@pytest.fixture(scope="module")
def judged() -> _Judged:
    """The queries."""
    return _Judged()


@pytest.mark.long
@pytest.mark.parametrize("cutoff", [None, 1, 5, 10])
def test_gains_agree_with_scikit_learn(judged: _Judged, cutoff: int | None) -> None:
    """NDCG and DCG have linear gains, averaged over the orders of tied documents."""
    from sklearn.metrics import dcg_score, ndcg_score

    suffix = "" if cutoff is None else f"@{cutoff}"
    for name, theirs in (("ndcg", ndcg_score), ("dcg", dcg_score)):
        ours = parse_metric(name + suffix, "sklearn")(judged.scores, judged.labels, judged.boundaries)
        for query in np.flatnonzero(judged.lengths > 1)[:SCORED_ONE_BY_ONE].tolist():
            rows = judged.rows(query)
            expected = theirs([judged.labels[rows]], [judged.scores[rows]], k=cutoff)
            assert ours[query] == pytest.approx(expected, abs=1e-9)


@pytest.mark.long
def test_binary_metrics_agree_with_scikit_learn(judged: _Judged) -> None:
    """Average precision takes tied documents in one step; AUC counts a tied pair half."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    relevant = judged.labels > 0
    precision = parse_metric("map", "sklearn")(judged.scores, judged.labels, judged.boundaries)
    auc = parse_metric("auc", "sklearn")(judged.scores, judged.labels, judged.boundaries)
    for query in range(SCORED_ONE_BY_ONE):
        rows = judged.rows(query)
        if relevant[rows].any():
            expected = average_precision_score(relevant[rows], judged.scores[rows])
            assert precision[query] == pytest.approx(expected, abs=1e-9)
            if not relevant[rows].all():
                assert auc[query] == pytest.approx(
                    roc_auc_score(relevant[rows], judged.scores[rows]), abs=1e-9
                )


@pytest.mark.parametrize("metric", ["ndcg", "map"])
def test_means_agree_with_lightgbm(judged: _Judged, metric: str) -> None:
    """LightGBM's own evaluation is the reference: queries without a relevant document count 1."""
    data = lightgbm.Dataset(
        judged.scores.reshape(-1, 1), judged.labels, group=judged.lengths, init_score=judged.scores
    )
    parameters = {"objective": "none", "metric": metric, "eval_at": [1, 3, 5, 10], "verbosity": -1}
    booster = lightgbm.Booster(parameters, data)
    for _, spelling, expected, *_ in booster.eval_train():
        ours = parse_metric(spelling, "lightgbm")(judged.scores, judged.labels, judged.boundaries)
        assert ours.mean() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("measure", "field", "spelling"),
    [
        ("ndcg", "ndcg", "ndcg"),
        *((f"ndcg_cut.{k}", f"ndcg_cut_{k}", f"ndcg@{k}") for k in (1, 3, 5, 10)),
        ("map", "map", "map"),
        *((f"map_cut.{k}", f"map_cut_{k}", f"map@{k}") for k in (1, 3, 5, 10)),
        ("recip_rank", "recip_rank", "mrr"),
        *((f"P.{k}", f"P_{k}", f"precision@{k}") for k in (1, 3, 5, 10)),
        *((f"recall.{k}", f"recall_{k}", f"recall@{k}") for k in (1, 3, 5, 10)),
        ("bpref", "bpref", "bpref"),
    ],
)
def test_queries_agree_with_trec_eval(judged: _Judged, measure: str, field: str, spelling: str) -> None:
    """Each query has trec_eval's value: ties are ordered by document id, and it is 0 without relevance."""
    theirs = pytrec_eval.RelevanceEvaluator(judged.qrels(), {measure}).evaluate(judged.run())
    ours = parse_metric(spelling, "trec_eval")(
        judged.scores, judged.labels, judged.boundaries, judged.document_ids
    )
    expected = [theirs[str(query)][field] for query in range(N_QUERIES)]
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("measure", "spelling"),
    [(nDCG @ 10, "ndcg@10"), (AP, "map"), (P @ 5, "precision@5"), (R @ 5, "recall@5"), (Bpref, "bpref")],
)
def test_means_agree_with_ir_measures(judged: _Judged, measure: "ir_measures.Measure", spelling: str) -> None:
    """The mean is over all judged queries."""
    expected = ir_measures.calc_aggregate([measure], judged.qrels(), judged.run())[measure]
    ours = parse_metric(spelling, "trec_eval")(
        judged.scores, judged.labels, judged.boundaries, judged.document_ids
    )
    assert ours.mean() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("metric", ["ndcg", "map"])
@pytest.mark.parametrize("cutoff", [1, 3, 5, 10])
def test_means_agree_with_xgboost(judged: _Judged, metric: str, cutoff: int) -> None:
    """XGBoost's own evaluation is the reference; its MAP takes labels 0 and 1 alone."""
    labels = np.minimum(judged.labels, 1.0) if metric == "map" else judged.labels
    data = xgboost.DMatrix(judged.scores.reshape(-1, 1), labels)
    data.set_group(judged.lengths)
    data.set_base_margin(judged.scores)
    spelling = f"{metric}@{cutoff}"
    parameters = {"objective": f"rank:{metric}", "eval_metric": spelling, "eta": 0.0, "nthread": 1}
    booster = xgboost.train(parameters, data, num_boost_round=1)
    reported = float(booster.eval(data).rsplit(":", 1)[1])
    ours = parse_metric(spelling, "xgboost")(judged.scores, labels, judged.boundaries)
    assert ours.mean() == pytest.approx(reported, abs=1e-6)


def test_trec_evals_ties_put_the_larger_document_first() -> None:
    """Equal scores are ordered by document id, whatever the order of the input."""
    scores, labels = np.array([1.0, 1.0, 1.0]), np.array([1.0, 0.0, 0.0])
    metric = parse_metric("mrr", "trec_eval")
    assert metric(scores, labels, np.array([0, 3]), ["b", "c", "a"])[0] == 1 / 2
    assert metric(scores, labels, np.array([0, 3]), ["z", "c", "a"])[0] == 1.0


def test_documents_may_be_unjudged_or_not_retrieved() -> None:
    """A judged document that was not retrieved still counts; an unjudged one takes a rank."""
    scores, labels = np.array([3.0, 2.0, np.nan]), np.array([np.nan, 1.0, 1.0])
    boundaries = np.array([0, 3])
    assert parse_metric("map", "trec_eval")(scores, labels, boundaries)[0] == pytest.approx(1 / 4)
    assert parse_metric("recall@2", "trec_eval")(scores, labels, boundaries)[0] == 1 / 2
    assert parse_metric("bpref", "trec_eval")(scores, labels, boundaries)[0] == 1 / 2


def test_letor_ndcg_is_0_for_fewer_documents_than_the_cutoff() -> None:
    """NDCG@k is 0 for a shorter list, and the discount is 1 at ranks 1 and 2."""
    scores, labels = np.array([3.0, 2.0, 1.0]), np.array([0.0, 2.0, 1.0])
    boundaries = np.array([0, 3])
    assert parse_metric("ndcg@5", "letor")(scores, labels, boundaries)[0] == 0.0
    expected = (3 + 1 / np.log2(3)) / (3 + 1)
    assert parse_metric("ndcg@3", "letor")(scores, labels, boundaries)[0] == pytest.approx(expected)


def test_presets_are_recognised_and_may_be_changed() -> None:
    """An object can name a preset and override some of its entries."""
    assert preset_of(conventions("lightgbm")) == "lightgbm"
    changed = conventions({"preset": "trec_eval", "gain": "exp2"})
    assert changed.ties == "docid"
    assert changed.gain == "exp2"
    assert preset_of(changed) is None
    assert set(PRESETS) == {"default", "lightgbm", "xgboost", "sklearn", "trec_eval", "letor"}
