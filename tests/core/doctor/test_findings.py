"""Each finding: a dataset that has it, with its numbers, and a sound one that has none."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset
from core.doctor import examine
from tests.core.doctor.judged import DOCUMENTS, FEATURES, QUERIES, features, labels, sound

ROWS = QUERIES * DOCUMENTS
VALUES = ROWS * FEATURES
QUERY_OF_ROW = np.repeat(np.arange(QUERIES), DOCUMENTS)


def test_sound_data_has_no_findings() -> None:
    """The report is empty where nothing is wrong."""
    assert examine(sound()).findings == ()


def _rows(rows: dict[int, int]) -> Any:
    """Return the features with some rows copied from others."""
    changed = features()
    for row, source in rows.items():
        changed[row] = changed[source]
    return changed


def _ids(rows: dict[int, str]) -> list[str]:
    return [rows.get(row, f"d{row}") for row in range(ROWS)]


def _clicks(*first: float) -> Any:
    """Return the values of the feature `clicks`, the first of them replaced."""
    return np.r_[first, features()[len(first) :, 3]]


def _cells(column: int, rows: list[int], value: float) -> Any:
    changed = features()
    changed[rows, column] = value
    return changed


@dataclass
class Case:
    """A sound dataset with some parts changed, and the finding that the doctor must report."""

    code: str
    parts: dict[str, Any]
    severity: str
    title: str
    count: int
    total: int
    unit: str
    examples: tuple[str, ...]
    example_kind: str = "query"
    arguments: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.code}-{self.severity}"


CASES = [
    Case(
        "sorted-by-label",
        {"labels": -np.sort(-sound().labels.reshape(QUERIES, -1), axis=1).ravel()},
        "warning",
        "All 20 queries with different labels have their rows sorted by label",
        QUERIES,
        QUERIES,
        "queries",
        tuple(f"q{number}" for number in range(10)),
    ),
    Case(
        "sorted-by-label",
        {"labels": np.where(QUERY_OF_ROW < 10, np.tile([3.0] + [0.0] * 9, QUERIES), labels({}))},
        "warning",
        "10 of 20 queries with different labels have their rows sorted by label",
        10,
        QUERIES,
        "queries",
        tuple(f"q{number}" for number in range(10)),
    ),
    Case(
        "scattered-queries",
        {},
        "warning",
        "2 of 20 queries had non-contiguous rows, which were regrouped",
        2,
        QUERIES,
        "queries",
        ("q3", "q7"),
        arguments={"scattered_queries": 2, "scattered_examples": ["q3", "q7"]},
    ),
    Case(
        "one-query",
        {"query_boundaries": [0, ROWS], "query_ids": ["q0"]},
        "warning",
        "All 200 documents belong to one query",
        ROWS,
        ROWS,
        "documents",
        ("q0",),
    ),
    Case(
        "one-document-queries",
        {"query_boundaries": np.r_[0, 1, np.arange(20, ROWS + 1, 10)]},
        "info",
        "1 of 20 queries has only one document",
        1,
        QUERIES,
        "queries",
        ("q0",),
    ),
    Case(
        "one-document-queries",
        {"query_boundaries": np.r_[np.arange(0, 16), 20, 40, 60, 80, ROWS]},
        "warning",
        "15 of 20 queries have only one document",
        15,
        QUERIES,
        "queries",
        tuple(f"q{number}" for number in range(10)),
    ),
    Case(
        "one-document-queries",
        {
            "query_boundaries": np.arange(ROWS + 1),
            "query_ids": [f"q{number}" for number in range(ROWS)],
        },
        "error",
        "All 200 queries have only one document",
        ROWS,
        ROWS,
        "queries",
        tuple(f"q{number}" for number in range(10)),
    ),
    Case(
        "one-label-queries",
        {"labels": np.where(QUERY_OF_ROW < 2, 1, labels({}))},
        "info",
        "2 of 20 queries have documents with a single label",
        2,
        QUERIES,
        "queries",
        ("q0", "q1"),
    ),
    Case(
        "one-label-queries",
        {"labels": np.where(QUERY_OF_ROW < 10, 1, labels({}))},
        "warning",
        "10 of 20 queries have documents with a single label",
        10,
        QUERIES,
        "queries",
        tuple(f"q{number}" for number in range(10)),
    ),
    Case(
        "one-label-queries",
        {"labels": 1 + QUERY_OF_ROW % 3},
        "error",
        "All 20 queries have documents with a single label",
        QUERIES,
        QUERIES,
        "queries",
        tuple(f"q{number}" for number in range(10)),
    ),
    Case(
        "queries-without-relevant",
        {"labels": np.where(QUERY_OF_ROW == 4, 0, labels({}))},
        "info",
        "1 of 20 queries has no relevant document",
        1,
        QUERIES,
        "queries",
        ("q4",),
    ),
    Case(
        "queries-without-relevant",
        {"labels": np.where(QUERY_OF_ROW < 12, 0, labels({}))},
        "warning",
        "12 of 20 queries have no relevant document",
        12,
        QUERIES,
        "queries",
        tuple(f"q{number}" for number in range(10)),
    ),
    Case(
        "repeated-documents",
        {"document_ids": _ids({1: "d0", 2: "d0", 35: "d33"})},
        "warning",
        "3 of 200 documents have the same id as an earlier document of their query",
        3,
        ROWS,
        "documents",
        ("q0", "q3"),
    ),
    Case(
        "identical-documents",
        {"features": _rows({1: 0, 2: 0, 35: 32})},
        "info",
        "3 of 200 documents have exactly the same features as an earlier document of their query",
        3,
        ROWS,
        "documents",
        ("q0", "q3"),
    ),
    Case(
        "identical-documents",
        {"features": _rows({row: row - 1 for row in range(1, ROWS, 10)})},
        "warning",
        "20 of 200 documents have exactly the same features as an earlier document of their query",
        20,
        ROWS,
        "documents",
        tuple(f"q{number}" for number in range(10)),
    ),
    Case(
        "contradicting-labels",
        {"features": _rows({9: 0, 1: 0, 35: 34})},
        "info",
        "3 of 200 documents have the same features as another document of their query but a different label",
        3,
        ROWS,
        "documents",
        ("q0",),
    ),
    Case(
        "contradicting-labels",
        {"features": _rows({row: row - 9 for row in range(9, ROWS, 10)})},
        "warning",
        "40 of 200 documents have the same features as another document of their query but a different label",
        40,
        ROWS,
        "documents",
        tuple(f"q{number}" for number in range(10)),
    ),
    Case(
        "empty-documents",
        {"features": np.where(np.arange(ROWS)[:, None] == 35, [[0.0, np.nan, -0.0, 0.0]], features())},
        "info",
        "1 of 200 documents has no features: each is 0 or missing",
        1,
        ROWS,
        "documents",
        ("q3",),
    ),
    Case(
        "constant-features",
        {"features": features(freshness=7)},
        "info",
        "1 of 4 features has the same value in every document",
        1,
        FEATURES,
        "features",
        ("freshness",),
        "feature",
    ),
    Case(
        "constant-features",
        {"features": np.zeros((ROWS, FEATURES))},
        "error",
        "All 4 features have the same value in every document",
        4,
        FEATURES,
        "features",
        ("bm25", "pagerank", "freshness", "clicks"),
        "feature",
    ),
    Case(
        "query-constant-features",
        {"features": features(freshness=QUERY_OF_ROW, pagerank=QUERY_OF_ROW % 2)},
        "info",
        "2 of 4 features have the same value for all documents of a query, in every query",
        2,
        FEATURES,
        "features",
        ("pagerank", "freshness"),
        "feature",
    ),
    Case(
        "query-constant-features",
        {"features": np.outer(1 + QUERY_OF_ROW, [1, 2, 3, 4])},
        "error",
        "All 4 features have the same value for all documents of a query, in every query",
        4,
        FEATURES,
        "features",
        ("bm25", "pagerank", "freshness", "clicks"),
        "feature",
    ),
    Case(
        "missing-values",
        {"features": _cells(1, [3, 4, 90], np.nan)},
        "info",
        "3 of 800 values are missing (in 1 feature)",
        3,
        VALUES,
        "values",
        ("pagerank",),
        "feature",
    ),
    Case(
        "infinite-values",
        {"features": features(clicks=_clicks(np.inf, np.inf), pagerank=_clicks(-np.inf))},
        "warning",
        "3 of 800 values are infinite (in 2 features)",
        3,
        VALUES,
        "values",
        ("clicks", "pagerank"),
        "feature",
    ),
    Case(
        "rounded-numbers",
        {
            "features": features(
                clicks=_clicks(2.0**24 + 2), pagerank=_clicks(-3e9, 2.0**24), bm25=np.full(ROWS, np.nan)
            )
        },
        "info",
        "2 of 4 features have values beyond 16,777,216, where float32 rounds whole numbers",
        2,
        FEATURES,
        "features",
        ("pagerank", "clicks"),
        "feature",
    ),
    Case(
        "leaking-features",
        {"features": features(clicks=-10 * labels({}))},
        "warning",
        "1 of 4 features ranks documents almost in the order of their labels: NDCG@10 1.000, a"
        " random order has 0.629",
        1,
        FEATURES,
        "features",
        ("clicks",),
        "feature",
    ),
    Case(
        "missing-labels",
        {"labels": labels({15: np.nan, 16: np.nan})},
        "warning",
        "2 of 200 documents have no label",
        2,
        ROWS,
        "documents",
        ("q1",),
    ),
    Case(
        "negative-labels",
        {"labels": labels({15: -1, 36: -2})},
        "warning",
        "2 of 200 documents have a label below 0",
        2,
        ROWS,
        "documents",
        ("q1", "q3"),
    ),
    Case(
        "labels-steep-under-exp2",
        {"labels": labels({15: 10, 16: 10.5, 36: 22})},
        "warning",
        "2 of 200 documents have a label above 10, up to 22",
        2,
        ROWS,
        "documents",
        ("q1", "q3"),
    ),
    Case(
        "labels-beyond-exp2",
        {"labels": labels({15: 30, 36: 30.5, 37: 100})},
        "warning",
        "2 of 200 documents have a label above 30, up to 100",
        2,
        ROWS,
        "documents",
        ("q3",),
    ),
    Case(
        "one-label-dataset",
        {"labels": np.ones(ROWS)},
        "error",
        "All 200 documents have the label 1",
        ROWS,
        ROWS,
        "documents",
        (),
    ),
    Case(
        "one-label-dataset",
        {"labels": np.full(ROWS, np.nan)},
        "error",
        "All 200 documents have no label",
        ROWS,
        ROWS,
        "documents",
        (),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_finding_has_a_sentence_numbers_and_advice(case: Case) -> None:
    """A finding has its severity, sentence, numbers, examples and advice."""
    found = [
        finding
        for finding in examine(sound(**case.parts), **case.arguments).findings
        if finding.code == case.code
    ]
    assert len(found) == 1
    finding = found[0]
    assert finding.advice.endswith(".")
    assert (finding.severity, finding.title) == (case.severity, case.title)
    assert (finding.count, finding.total, finding.unit) == (case.count, case.total, case.unit)
    assert (finding.examples, finding.example_kind) == (case.examples, case.example_kind)


@pytest.mark.parametrize(
    ("parts", "codes"),
    [
        ({"labels": np.zeros(ROWS)}, {"one-label-dataset"}),
        ({"labels": np.full(ROWS, np.nan)}, {"one-label-dataset"}),
        (
            {"query_boundaries": np.arange(ROWS + 1), "query_ids": [str(n) for n in range(ROWS)]},
            {"one-document-queries", "queries-without-relevant"},
        ),
    ],
    ids=["all of label 0", "no labels", "one document per query"],
)
def test_one_cause_is_reported_once(parts: dict[str, Any], codes: set[str]) -> None:
    """The consequences of a finding are not another finding."""
    assert {finding.code for finding in examine(sound(**parts)).findings} == codes


def test_very_long_queries_are_information() -> None:
    """Queries of more than 10,000 documents, LightGBM's limit, have a finding; 10,000 documents have none."""
    generator = np.random.default_rng(0)
    values, labels = generator.normal(size=(20_001, 2)), generator.integers(0, 2, 20_001)
    dataset = RankingDataset.from_arrays(values, labels, [0, 10_000, 20_001])
    (finding,) = examine(dataset).findings
    assert (finding.code, finding.severity) == ("very-long-queries", "info")
    assert (finding.title, finding.examples) == ("1 of 2 queries has more than 10,000 documents", ("2",))


def test_findings_are_ordered_by_severity() -> None:
    """Errors are first, then warnings, then information, in whatever order they are found."""
    report = examine(sound(labels=np.ones(ROWS), features=_cells(0, [1], np.inf) * [1, 1, 0, 1]))
    assert [finding.severity for finding in report.findings] == ["error", "warning", "info"]


def test_the_advice_on_negative_labels_has_a_label_map() -> None:
    """The advice can be pasted into a job."""
    (finding,) = examine(sound(labels=labels({3: -1, 4: -2}))).findings
    assert 'label_map {"-2": 0, "-1": 0}' in finding.advice


def test_documents_without_a_label_contradict_no_judgment() -> None:
    """A missing label is not a judgment."""
    copied, judged = _rows({9: 0}), labels({9: np.nan})
    codes = {finding.code for finding in examine(sound(features=copied, labels=judged)).findings}
    assert codes == {"identical-documents", "missing-labels"}


def test_a_document_with_a_category_has_features() -> None:
    """The first value of a categorical feature has the code 0, but it is not an empty feature."""
    values = np.where(np.arange(ROWS)[:, None] < 30, 0.0, features())
    values[:, 3] = np.arange(ROWS) % 2
    values[:10, 3] = np.nan
    dataset = RankingDataset.from_arrays(
        values, labels({}), np.arange(0, ROWS + 1, ROWS // QUERIES), categories={"f4": ["red", "blue"]}
    )
    (found,) = [finding for finding in examine(dataset).findings if finding.code == "empty-documents"]
    assert (found.count, found.total) == (10, ROWS)
