"""Comparison of systems in memory."""

from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import rankery
from core.evaluation import compare_systems
from rankery.client.schemas.answers import Pair
from rankery.errors import InvalidArgument
from rankery.metrics import Evaluation
from tests.rankery.library.conftest import Judged

METRICS = ["ndcg@5", "mrr", "arp"]
PERMUTATIONS = 2_000


@pytest.fixture(scope="module")
def evaluations(judged: Judged) -> tuple[Evaluation, Evaluation]:
    """A weak and a better ranking of the same queries."""
    noise = np.random.default_rng(1).normal(size=(2, len(judged.y)))
    first, second = (
        rankery.metrics.evaluate(judged.y + scale * one, judged.y, judged.groups, metrics=METRICS)
        for scale, one in zip((3.0, 1.0), noise, strict=True)
    )
    return first, second


@pytest.fixture(scope="module")
def expected(evaluations: tuple[Evaluation, Evaluation]) -> Pair:
    """The result of a compare job on both evaluations."""
    values = {name: np.column_stack([one.values[name] for one in evaluations]) for name in METRICS}
    directions = {"ndcg@5": True, "mrr": True, "arp": False}
    result = compare_systems(("A", "B"), values, directions, permutations=PERMUTATIONS, seed=42)
    return Pair.model_validate(result.pairs[0].to_json(list(evaluations[0].query_ids)))


FORMS: dict[str, Any] = {
    "evaluation": lambda one: one,
    "pandas": lambda one: one.to_pandas(),
    "polars": lambda one: one.to_polars(),
    "arrow": lambda one: one.to_arrow(),
    "ir_measures' names": lambda one: one.to_pandas().rename(columns={"ndcg@5": "nDCG@5", "mrr": "RR"}),
    "shuffled": lambda one: one.to_pandas().sample(frac=1.0, random_state=5),
    "numbers as ids": lambda one: one.to_pandas().astype({"query_id": int}),
}


@pytest.mark.parametrize("form", FORMS)
def test_statistics_are_those_of_a_compare_job(
    form: str, evaluations: tuple[Evaluation, Evaluation], expected: Pair
) -> None:
    """Evaluations and frames, matched by query id, give the result of a compare job."""
    first, second = evaluations
    comparison = rankery.compare(first, FORMS[form](second), permutations=PERMUTATIONS)
    assert comparison.pair == expected
    assert (comparison.verdict, comparison.sentence) == (expected.verdict, expected.sentence)
    assert comparison.verdict == "better"


@pytest.mark.parametrize(
    "make", [np.asarray, list, polars.Series, pa.array, pandas.Series, pandas.array, pandas.Index]
)
def test_arrays_hold_one_metric(make: Any, evaluations: tuple[Evaluation, Evaluation]) -> None:
    """Arrays need the name of their metric, which defines the direction: a lower cost is better."""
    values = [make(one.values["arp"].tolist()) for one in evaluations]
    comparison = rankery.compare(*values, metric="arp", names=("old", "new"), permutations=PERMUTATIONS)
    assert list(comparison.metrics) == ["arp"]
    assert comparison.sentence.startswith("new is better than old: arp goes from")
    assert rankery.compare(*values, permutations=PERMUTATIONS).verdict == "worse"  # higher is better


def test_series_are_matched_by_their_index(evaluations: tuple[Evaluation, Evaluation]) -> None:
    """Series are matched by query id, whatever the order of their rows."""
    first, second = (one.to_pandas().set_index("query_id")["mrr"] for one in evaluations)
    comparison = rankery.compare(first, second[::-1], metric="mrr", permutations=PERMUTATIONS)
    assert comparison.pair == rankery.compare(first, second, metric="mrr", permutations=PERMUTATIONS).pair
    assert comparison.most_improved[0].query_id in evaluations[0].query_ids


def test_another_metric_may_decide(evaluations: tuple[Evaluation, Evaluation]) -> None:
    """The deciding metric can have any of its names."""
    comparison = rankery.compare(*evaluations, metric="RR", permutations=PERMUTATIONS)
    assert list(comparison.metrics) == ["mrr", "ndcg@5", "arp"]
    assert "mrr goes from" in comparison.sentence


def test_own_columns_need_a_direction() -> None:
    """An unknown column needs an explicit direction."""
    a = pandas.DataFrame({"query_id": ["a", "b", "c"], "latency": [3.0, 4.0, 5.0]})
    b = a.assign(latency=a["latency"] - 1.0)
    with pytest.raises(InvalidArgument, match="higher_is_better"):
        rankery.compare(a, b)
    compared = rankery.compare(a, b, higher_is_better={"latency": False})
    latency = compared.metrics["latency"]
    assert latency is not None
    assert latency.difference == -1.0
    (table,) = compared.card().tables
    assert dict(zip(table.columns, table.rows[0], strict=True))["#larger / same / smaller"] == "0 / 0 / 3"


def test_a_comparison_is_shown(evaluations: tuple[Evaluation, Evaluation]) -> None:
    """A comparison is shown as a card in a notebook, and as a frame with a row per metric."""
    comparison = rankery.compare(*evaluations, permutations=PERMUTATIONS)
    assert comparison.to_pandas()["metric"].tolist() == METRICS
    assert "B is better than A" in comparison._repr_html_()


FRAME = pandas.DataFrame({"query_id": ["a", "b"], "mrr": [0.5, 1.0]})


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([0.5, 1.0], [0.5], "b: has 1 values, a has 2"),
        (FRAME, FRAME[:1], "b: must have the queries of a; 1 are in only one of them: 'b'"),
        (FRAME, FRAME.assign(query_id="a"), "b: has query 'a' twice"),
        (FRAME, FRAME.rename(columns={"mrr": "map"}), "metric: a has mrr, b has map"),
        (FRAME, FRAME.drop(columns="query_id"), "b: has no column query_id"),
        (FRAME, FRAME.drop(columns="mrr"), "b: must have one row per query"),
        ([[0.5]], [[0.5]], "a: must have one value per query"),
        (["x"], ["y"], "a: must be an evaluation, a frame or numbers"),
        ([0.5, 1.0], [0.5, float("inf")], "b: value is infinite for query 1, counted from 0"),
        (FRAME.assign(RR=0.5), FRAME.assign(RR=0.5), "a: has two columns of mrr"),
        (FRAME.rename(columns={"mrr": "gm-map"}), FRAME.rename(columns={"mrr": "gm-map"}), "geometric"),
    ],
)
def test_values_that_cannot_be_compared_are_named(a: Any, b: Any, message: str) -> None:
    """The error names the argument."""
    with pytest.raises(InvalidArgument, match=message):
        rankery.compare(a, b)


def test_evaluations_by_different_conventions_are_not_compared(judged: Judged) -> None:
    """The difference would be that of the conventions, not of the systems."""
    arguments: Any = (judged.y, judged.y, judged.groups)
    default = rankery.metrics.evaluate(*arguments, metrics=METRICS)
    linear = rankery.metrics.evaluate(*arguments, metrics=METRICS, contract="trec_eval")
    message = "b: ndcg@5 follows other conventions than in a; evaluate both with one contract"
    with pytest.raises(InvalidArgument, match=message):
        rankery.compare(default, linear)


def test_each_system_needs_a_name() -> None:
    """A wrong number of names is refused by the argument."""
    with pytest.raises(InvalidArgument, match="names: must be the names of a and b"):
        rankery.compare([0.5, 1.0], [0.5, 1.0], names=("A",))  # type: ignore[arg-type]
