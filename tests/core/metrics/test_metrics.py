"""Metrics against values written as their formulas."""

import itertools
import math
import re
from typing import Any

import ir_measures
import numpy as np
import pytest

from core.errors import InvalidInput
from core.metrics import METRICS, conventions, metric_name, parse_metric

SCORES = np.array([0.1, 0.9, 0.5, 0.7, 0.3])  # ranks 5, 1, 3, 2, 4
LABELS = np.array([3.0, 0.0, 2.0, 1.0, 0.0])  # by rank: 0, 1, 2, 0, 3
ONE_QUERY = np.array([0, 5])

DCG_3 = 0 / math.log2(2) + 1 / math.log2(3) + 3 / math.log2(4)
IDEAL_3 = 7 / math.log2(2) + 3 / math.log2(3) + 1 / math.log2(4)
DCG = DCG_3 + 7 / math.log2(6)


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("dcg@3", DCG_3),
        ("ndcg@3", DCG_3 / IDEAL_3),
        ("dcg", DCG),
        ("ndcg", DCG / IDEAL_3),
        ("ndcg@1000", DCG / IDEAL_3),
        ("map", (1 / 2 + 2 / 3 + 3 / 5) / 3),
        ("map@3", (1 / 2 + 2 / 3) / 3),
        ("mrr", 1 / 2),
        ("mrr@1", 0.0),
        ("precision@3", 2 / 3),
        ("precision@10", 3 / 10),
        ("precision", 3 / 5),
        ("recall@2", 1 / 3),
        ("recall", 1.0),
        ("success@1", 0.0),
        ("success@2", 1.0),
        ("r-precision", 2 / 3),
        ("gm-map", (1 / 2 + 2 / 3 + 3 / 5) / 3),
        ("iprec", 2 / 3),
        ("iprec@0.1", 2 / 3),
        ("iprec@0.8", 3 / 5),
        ("iprec@1", 3 / 5),
        ("11pt-avg", (8 * 2 / 3 + 3 * 3 / 5) / 11),
        (
            "inf-ap",
            ((1 + 1 * 1e-5 / (1 + 2e-5)) / 2 + (1 + 2 / 2) / 3 + (1 + 4 / 2) / 5) / 3,
        ),
    ],
)
def test_metric_follows_its_formula(spelling: str, expected: float) -> None:
    """One hand-ranked query: labels 0, 1, 2, 0, 3 by rank."""
    assert parse_metric(spelling)(SCORES, LABELS, ONE_QUERY)[0] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("map@1", 1 / 3),
        ("map@2", (1 + 1 / 3 * 2 * 3 / 4) / 3),
        ("map@3", (1 + 2 / 3 * 2 * 3 / 4) / 3),
        ("map@4", (1 + 2 * 3 / 4) / 3),
        ("map", (1 + 2 * 3 / 4) / 3),
    ],
)
def test_a_tie_across_the_cutoff_counts_by_its_share_above(spelling: str, expected: float) -> None:
    """Documents 2 to 4 of five are tied, two of them are relevant, and so is the first."""
    scores, labels = np.array([3.0, 2.0, 2.0, 2.0, 1.0]), np.array([1.0, 1.0, 0.0, 1.0, 0.0])
    assert parse_metric(spelling, "sklearn")(scores, labels, ONE_QUERY)[0] == pytest.approx(
        expected, abs=1e-15
    )


def test_a_list_of_gains_gives_unjudged_documents_nothing() -> None:
    """Only judged documents gain, also where the label 0 has a gain and documents were not judged."""
    scores, labels = np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.array([np.nan, np.nan, 1.0, -1.0, 0.0])
    found = parse_metric("dcg", {"gain": [1.0, 2.0]})(scores, labels, ONE_QUERY)
    assert found[0] == pytest.approx(2 / math.log2(4) + 1 / math.log2(6), abs=1e-15)
    assert parse_metric("ndcg", {"gain": [1.0, 2.0]})(scores, labels, ONE_QUERY)[0] < 1.0


@pytest.mark.parametrize(
    "contract",
    [
        {"gain": []},
        {"gain": ["a"]},
        {"gain": [0.0, None]},
        {"gain": [0.0, math.nan]},
        {"gain": {}},
        {"relevance_threshold": math.nan},
        {"relevance_threshold": "1"},
        {"max_label": "4"},
        {"max_label": 2.5},
        {"max_label": True},
        {"max_documents": "3"},
        {"max_documents": 1.5},
        {"judged_only": "no"},
        {"preset": ["trec_eval"]},
    ],
)
def test_conventions_of_a_wrong_type_are_refused(contract: dict[str, Any]) -> None:
    """The error has the pointer of the convention, also where no service has checked the contract."""
    with pytest.raises(InvalidInput) as refused:
        conventions(contract)
    assert [problem.pointer for problem in refused.value.problems] == [f"/{name}" for name in contract]


def test_gains_below_0_are_refused() -> None:
    """Such gains would put NDCG outside the range from 0 to 1; the loss refuses them, too."""
    ndcg = parse_metric("ndcg", {"gain": [0.0, -1.0, 3.0]})
    for labels in (np.array([1.0, 2.0]), np.array([0.0, 2.0])):
        with pytest.raises(InvalidInput, match="/contract/gain: must hold gains of at least 0"):
            ndcg.check_labels(labels)
        with pytest.raises(InvalidInput, match="/contract/gain: must hold gains of at least 0"):
            ndcg(np.array([2.0, 1.0]), labels, np.array([0, 2]))


@pytest.mark.parametrize("cutoff", ["", "@2"])
def test_a_perfect_ranking_by_gains_that_do_not_rise_is_one(cutoff: str) -> None:
    """The ideal ranking is by gain: here label 1 is worth more than label 2."""
    labels = np.array([1.0, 2.0, 0.0, 2.0, 1.0])
    gains = np.array([0.0, 3.0, 1.0])
    found = parse_metric(f"ndcg{cutoff}", {"gain": gains.tolist()})(
        gains[labels.astype(int)], labels, ONE_QUERY
    )
    assert found[0] == 1.0


@pytest.mark.parametrize("name", METRICS)
def test_a_query_without_relevant_documents_is_skipped_not_counted(name: str) -> None:
    """The value is NaN, except for metrics that are defined without a relevant document."""
    values = parse_metric(name)(SCORES, np.zeros(5), ONE_QUERY)
    defined = {"dcg": 0.0, "arp": 0.0, "judged": 1.0}
    assert values[0] == defined[name] if name in defined else math.isnan(values[0])


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("judged", 3 / 4),
        ("judged@2", 1 / 2),
        ("judged@9", 3 / 4),
        ("mrr", 1 / 4),
        ("mrr(judged)", 1 / 3),
        ("ndcg(judged)@2", 0.0),
        ("precision(judged)@3", 1 / 3),
        ("rbp(0.5,judged)", 1 / 8),
    ],
)
def test_judged_documents_are_counted_or_measured_alone(spelling: str, expected: float) -> None:
    """Labels by rank are 0, none, 0 and 1; a fifth document, which is relevant, is not retrieved."""
    scores, labels = np.array([4.0, 3.0, 2.0, 1.0, np.nan]), np.array([0.0, np.nan, 0.0, 1.0, 1.0])
    assert parse_metric(spelling)(scores, labels, ONE_QUERY)[0] == pytest.approx(expected, abs=1e-15)


def test_tied_scores_rank_in_input_order() -> None:
    """Ties keep the input order, so that values do not depend on the sorting algorithm."""
    scores = np.zeros(3)
    assert parse_metric("mrr")(scores, np.array([0.0, 0.0, 1.0]), np.array([0, 3]))[0] == 1 / 3
    assert parse_metric("mrr")(scores, np.array([1.0, 0.0, 0.0]), np.array([0, 3]))[0] == 1.0


def test_queries_are_measured_one_by_one() -> None:
    """Neither an empty query nor a neighbour changes the value of a query."""
    scores, labels = np.tile(SCORES, 2), np.concatenate([LABELS, LABELS[::-1]])
    values = parse_metric("ndcg")(scores, labels, np.array([0, 5, 5, 10]))
    assert values[0] == parse_metric("ndcg")(SCORES, LABELS, ONE_QUERY)[0]
    assert math.isnan(values[1])
    assert values[2] == parse_metric("ndcg")(SCORES, LABELS[::-1], ONE_QUERY)[0]


@pytest.mark.parametrize(
    "spelling",
    [
        *("", "ndgc", "ndcg@", "ndcg@0", "ndcg@-1", "Ndcg@5", "ndcg@5 ", "ndcg@1e3", "ndcg@0.5"),
        *("ndcg_cut", "ndcg_cut_0", "P_", "P_0.5", "rprec", "Rprec_5"),
    ],
)
def test_wrong_spellings_are_refused(spelling: str) -> None:
    """A metric that is not understood is refused, never guessed."""
    with pytest.raises(InvalidInput, match="unknown metric"):
        parse_metric(spelling)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_states_its_contract(name: str) -> None:
    """A number is stored with the conventions that make it comparable."""
    assert {"ties", "queries_without_relevant"} <= parse_metric(name).contract().keys()


@pytest.mark.parametrize("name", ["dcg", "ndcg"])
def test_gains_that_overflow_are_refused_not_infinite(name: str) -> None:
    """A gain of 2^1000 is accepted; beyond it a mean would silently be infinite or skip the query."""
    metric = parse_metric(name)
    assert np.isfinite(metric(SCORES, LABELS * 1000 / 3, ONE_QUERY)).all()
    with pytest.raises(InvalidInput, match="overflows for labels above 1000; the largest label is 1025"):
        metric(SCORES, np.array([1025.0, 0, 0, 0, 0]), ONE_QUERY)


@pytest.mark.parametrize("n", range(1, 101))
def test_preferences_that_cancel_are_exactly_zero(n: int) -> None:
    """The bpref of n relevant documents below n others is 0; a sum of rounded quotients would be -1e-16."""
    labels = np.repeat([0.0, 1.0], n)
    scores, boundaries = np.arange(2.0 * n, 0.0, -1.0), np.array([0, 2 * n])
    assert parse_metric("bpref")(scores, labels, boundaries)[0] == 0.0


@pytest.mark.parametrize("name", ["map", "ndcg", "bpref", "auc", "pairwise-accuracy", "recall"])
@pytest.mark.parametrize("n", [3, 7, 49, 98, 1000])
def test_a_perfect_ranking_is_exactly_one(name: str, n: int) -> None:
    """Rounding does not reduce sums of equal terms to 1 - 1e-16."""
    labels = np.repeat([1.0, 0.0], n)
    scores, boundaries = np.arange(2.0 * n, 0.0, -1.0), np.array([0, 2 * n])
    assert parse_metric(name)(scores, labels, boundaries)[0] == 1.0


@pytest.mark.parametrize("n_labels", [2, 5, 1000])
@pytest.mark.parametrize("n_scores", [1, 7, 1000])
def test_pair_metrics_equal_a_loop_over_all_pairs(n_labels: int, n_scores: int) -> None:
    """The values are those of a comparison of every pair, with ties, and with documents not judged."""
    generator = np.random.default_rng(n_labels * n_scores)
    lengths = [1, 2, 30, 300]
    boundaries = np.cumsum([0, *lengths])
    scores = generator.integers(n_scores, size=boundaries[-1]).astype(float)
    labels = generator.integers(n_labels, size=boundaries[-1]) / 3.0
    labels[generator.random(len(labels)) < 0.1] = np.nan
    for metric, levels in (("pairwise-accuracy", labels), ("auc", np.where(labels > 0.5, 1.0, 0.0 * labels))):
        found = parse_metric(metric, {"relevance_threshold": 0.5})(scores, labels, boundaries)
        for query, (start, stop) in enumerate(itertools.pairwise(boundaries)):
            level, score = levels[start:stop], scores[start:stop]
            unequal = level[:, None] > level
            right = unequal & (score[:, None] > score)
            tied = unequal & (score[:, None] == score)
            pairs = np.sum(unequal)
            expected = (np.sum(right) + np.sum(tied) / 2) / pairs if pairs else np.nan
            assert found[query] == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


def test_err_needs_a_gain_of_the_largest_label() -> None:
    """The error names `max_label`, as all labels of the data have gains."""
    metric = parse_metric("err", {"gain": [0, 1, 3]})
    with pytest.raises(InvalidInput) as refused:
        metric.check_labels(np.array([0.0, 1.0, 2.0]))
    (problem,) = refused.value.problems
    assert problem.pointer == "/contract/max_label"
    assert "set max_label to 2" in problem.detail


def test_documents_that_were_not_retrieved_come_last() -> None:
    """Otherwise the least cost would be that of an empty ranking, and its pairs would be left out."""
    labels, boundaries = np.array([0.0, 2.0, 1.0, np.nan]), np.array([0, 4])
    some, none = np.array([np.nan, np.nan, 1.0, 2.0]), np.full(4, np.nan)
    discounts, ideal = 1 / np.log2([2, 3, 4, 5]), 3 + 1 / np.log2(3)
    expected = {
        "arp": (1 * 2 + 2 * 4, 2 * 2 + 1 * 3),
        "ndcg-cost": tuple(np.dot(gains, 1 - discounts) / ideal for gains in ([0, 1, 0, 3], [0, 3, 1, 0])),
        "pairwise-accuracy": ((1 + 0 + 1 / 2) / 3, 1 / 2),
        "auc": ((1 + 1 / 2) / 2, 1 / 2),
    }
    for name, values in expected.items():
        for scores, value in zip((some, none), values, strict=True):
            found = parse_metric(name)(scores, labels, boundaries)[0]
            assert found == pytest.approx(value)


def test_a_geometric_mean_is_that_of_the_queries() -> None:
    """(1/2 · 1/8)^(1/2) = 1/4; a query of value 0 counts as 1e-5, and an undefined one is left out."""
    metric = parse_metric("gm-map")
    assert metric.mean(np.array([1 / 2, 1 / 8, np.nan])) == pytest.approx(1 / 4)
    assert metric.mean(np.array([np.nan])) is None
    found = metric(SCORES, LABELS * [0, 0, 0, 0, 0], ONE_QUERY)
    assert math.isnan(found[0])
    counted = parse_metric("gm-map", "trec_eval")(SCORES, np.zeros(5), ONE_QUERY)
    assert counted[0] == 1e-5
    assert parse_metric("map").mean(np.array([1 / 2, 1 / 8])) == 5 / 16


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("recip_rank", "mrr"),
        ("P_5", "precision@5"),
        ("P.5", "precision@5"),
        ("ndcg_cut_5", "ndcg@5"),
        ("map_cut_10", "map@10"),
        ("recall_100", "recall@100"),
        ("success_1", "success@1"),
        ("Rprec", "r-precision"),
        ("gm_map", "gm-map"),
        ("infAP", "inf-ap"),
        ("11pt_avg", "11pt-avg"),
        ("iprec_at_recall_0.10", "iprec@0.1"),
        ("iprec_at_recall_1.00", "iprec@1"),
    ],
)
def test_trec_evals_spellings_keep_its_conventions(theirs: str, ours: str) -> None:
    """Of a contract, only the relevance threshold and the number of documents apply."""
    assert parse_metric(theirs) == parse_metric(ours, "trec_eval")
    limited = {"preset": "lightgbm", "relevance_threshold": 1.5, "max_documents": 20}
    assert parse_metric(theirs, limited) == parse_metric(ours, {**limited, "preset": "trec_eval"})


@pytest.mark.parametrize("spelling", ["dcg", "ndcg", "ndcg@4", "map", "map@4"])
def test_max_documents_cuts_no_tie_by_input_order(spelling: str) -> None:
    """With averaged ties, a tie across the limit counts by its share, whatever the order of the documents."""
    scores, labels = np.array([3.0, 2.0, 2.0, 2.0, 1.0]), np.array([1.0, 3.0, 0.0, 2.0, 4.0])
    metric = parse_metric(spelling, {"ties": "average", "max_documents": 3})
    orders = list(itertools.permutations(range(1, 4)))
    values = [metric(scores, labels[[0, *order, 4]], ONE_QUERY)[0] for order in orders]
    assert values == pytest.approx([values[0]] * len(orders), abs=1e-15)
    if "map" not in spelling:
        stable = parse_metric(spelling, {"max_documents": 3})
        mean = np.mean([stable(scores, labels[[0, *order, 4]], ONE_QUERY)[0] for order in orders])
        assert values[0] == pytest.approx(mean, abs=1e-15)
    if spelling == "map":
        unlimited = parse_metric("map@3", {"ties": "average"})(scores, labels, ONE_QUERY)[0]
        assert values[0] == pytest.approx(unlimited, abs=1e-15)


def test_max_documents_limits_the_documents_that_are_measured() -> None:
    """Precision, recall, MAP and DCG use only the first documents of each ranking, but all judgments."""
    limited = {"max_documents": 2}
    boundaries = np.array([0, 5, 6])
    scores, labels = np.append(SCORES, 0.5), np.append(LABELS, 1.0)
    assert parse_metric("precision", limited)(scores, labels, boundaries) == pytest.approx([1 / 2, 1.0])
    assert parse_metric("recall", limited)(scores, labels, boundaries) == pytest.approx([1 / 3, 1.0])
    assert parse_metric("map", limited)(scores, labels, boundaries) == pytest.approx([1 / 6, 1.0])
    assert parse_metric("dcg", limited)(scores, labels, boundaries)[0] == pytest.approx(1 / math.log2(3))
    assert parse_metric("map", limited).contract()["max_documents"] == 2
    assert "max_documents" not in parse_metric("map").contract()
    with pytest.raises(InvalidInput, match="at least 1"):
        parse_metric("map", {"max_documents": 0})


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("nDCG@10", "ndcg@10"),
        ("NDCG", "ndcg"),
        ("AP@100", "map@100"),
        ("MAP", "map"),
        ("RR", "mrr"),
        ("MRR@10", "mrr@10"),
        ("P@5", "precision@5"),
        ("R@1000", "recall@1000"),
        ("Success@1", "success@1"),
        ("ERR@20", "err@20"),
        ("RBP", "rbp"),
        ("RBP(p=0.95)@10", "rbp(0.95)@10"),
        ("nDCG(cutoff=10)", "ndcg@10"),
        ("RBP(cutoff=10,p=0.95)", "rbp(0.95)@10"),
        ("Bpref", "bpref"),
        ("IPrec@0.1", "iprec@0.1"),
        ("RPrec", "r-precision"),
    ],
)
def test_names_of_ir_measures_parse_to_the_same_metrics(theirs: str, ours: str) -> None:
    """Names of ir_measures follow the contract as Rankery's names do, and are stored as Rankery's names."""
    assert str(ir_measures.parse_measure(theirs))  # a name that ir_measures knows
    for contract in ("default", "trec_eval"):
        assert parse_metric(theirs, contract) == parse_metric(ours, contract)
    assert metric_name(theirs) == ours == metric_name(ours)


def test_trec_evals_names_are_stored_unchanged() -> None:
    """trec_eval's names imply conventions, which Rankery's names would lose."""
    assert [metric_name(name) for name in ("ndcg_cut_10", "Rprec", "infAP")] == [
        "ndcg_cut_10",
        "Rprec",
        "infAP",
    ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ndgc@10", "did you mean ndcg@10?"),
        ("nDGC@10", "did you mean ndcg@10?"),
        ("ndcg10", "did you mean ndcg@10?"),
        ("Precison@5", "did you mean precision@5?"),
        ("recip_rnk", "did you mean mrr?"),
        ("nDCG@k", "a cutoff is a whole number from 1 to 999999, as in ndcg@10"),
        ("AP(rel=2)@100", "write map@100"),
        ("RBP(p=0.8,rel=2)", "does not accept 'rel=2'; write rbp(0.8):"),
        ("nDCG(dcg='exp-log2')@5", "write ndcg@5"),
        ("happiness", "known are ndcg, dcg, map"),
    ],
)
def test_a_wrong_name_gets_a_suggestion(written: str, meant: str) -> None:
    """The suggestion keeps the requested cutoff; all names are listed if none is similar."""
    with pytest.raises(InvalidInput, match=re.escape(meant)):
        metric_name(written)
