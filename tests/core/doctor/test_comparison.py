"""Two datasets of a job: each finding, and none where they fit."""

from typing import Any

import numpy as np
import pytest

from core.clicks.training_data import query_of_list
from core.data import RankingDataset
from core.data.categories import Categories
from core.doctor import Finding, compare
from tests.core.doctor.judged import DOCUMENTS, QUERIES, sound

ROWS = QUERIES * DOCUMENTS


def _other(**parts: Any) -> RankingDataset:
    """Return a sound dataset that shares neither queries nor documents with `sound()`."""
    changed: dict[str, Any] = {
        "features": sound().matrix + np.float32(0.125),
        "query_ids": [f"other{number}" for number in range(QUERIES)],
    }
    return sound(**(changed | parts))


def _only_finding(train: RankingDataset, other: RankingDataset, role: str = "test") -> Finding:
    (finding,) = compare(train, other, role)
    return finding


def test_datasets_that_fit_together_have_no_findings() -> None:
    """There are no findings in either role."""
    assert compare(sound(), _other(), "validation") == compare(sound(), _other(), "test") == ()


def test_shared_query_ids_are_a_warning() -> None:
    """The finding has the ids."""
    ids = [f"other{number}" for number in range(QUERIES - 2)]
    finding = _only_finding(sound(), _other(query_ids=[*ids, "q7", "q3"]), "validation")
    assert (finding.code, finding.severity, finding.examples) == ("shared-queries", "warning", ("q7", "q3"))
    assert finding.title == "2 of 20 queries of the validation data have the id of a training query"
    assert (finding.count, finding.total, finding.unit) == (2, 20, "queries")


@pytest.mark.parametrize("gap", [1, 2])
def test_shared_numbers_from_one_are_information(gap: int) -> None:
    """Many files number their queries from 1, some with gaps."""
    counted = [str(number) for number in range(1, gap * QUERIES + 1, gap)]
    finding = _only_finding(sound(query_ids=counted), _other(query_ids=counted))
    assert (finding.code, finding.severity, finding.count) == ("shared-queries", "info", QUERIES)


def test_shared_ids_of_very_many_digits_are_a_warning() -> None:
    """Python does not convert texts of more than 4,300 digits to int."""
    counted = [*map(str, range(1, QUERIES)), "9" * 5_000]
    assert _only_finding(sound(query_ids=counted), _other(query_ids=counted)).severity == "warning"


@pytest.mark.parametrize("factor", [3, 15])
def test_shared_numbers_with_large_gaps_are_a_warning(factor: int) -> None:
    """Such numbers count as assigned ids, which are not equal by chance."""
    sparse = [str(1 + factor * number) for number in range(QUERIES)]
    assert _only_finding(sound(query_ids=sparse), _other(query_ids=sparse)).severity == "warning"


def _features_sharing(rows: int) -> Any:
    features = _other().matrix.copy()
    features[:rows] = sound().features[0]
    return features


def test_shared_documents_are_counted_by_their_features() -> None:
    """The finding counts all shared documents, and the distinct ones."""
    finding = _only_finding(sound(), _other(features=_features_sharing(12)))
    assert (finding.code, finding.severity) == ("shared-documents", "warning")
    assert finding.title == (
        "12 of 200 documents of the test data have exactly the same features as a training document;"
        " 1 distinct"
    )
    assert (finding.count, finding.total, finding.unit) == (12, ROWS, "documents")
    assert finding.examples == ("other0", "other1")


def _of_brands(dataset: RankingDataset, brands: tuple[str, ...], names: list[str]) -> RankingDataset:
    """Return the dataset with the brand of each document as its first feature."""
    codes = Categories(brands).codes(names)
    features = np.column_stack([codes, np.zeros((len(names), dataset.n_features - 1), np.float32)])
    return dataset.with_features(
        features, dataset.feature_names, {dataset.feature_names[0]: Categories(brands)}
    )


def test_categories_of_shared_documents_are_compared_by_value() -> None:
    """The code of a value depends on the other values of its dataset."""
    train = _of_brands(sound(), ("acme", "zenith"), ["acme", "zenith"] * (ROWS // 2))
    equal = _of_brands(_other(), ("zenith", "zone"), ["zone"] * (ROWS - 12) + ["zenith"] * 12)
    (found,) = [each for each in compare(train, equal, "test") if each.code == "shared-documents"]
    assert found.count == 12
    unequal = _of_brands(_other(), ("apex", "nadir"), ["apex", "nadir"] * (ROWS // 2))
    assert "shared-documents" not in [each.code for each in compare(train, unequal, "test")]


def test_few_shared_documents_are_information() -> None:
    """A few pages are always duplicates."""
    assert _only_finding(sound(), _other(features=_features_sharing(9))).severity == "info"


def test_documents_that_queries_share_anyhow_are_information() -> None:
    """With coarse features, training queries have as many documents in common; the title has their share."""
    coarse = np.round(sound().features)
    finding = _only_finding(sound(features=coarse), _other(features=np.round(_other().features)))
    assert (finding.code, finding.severity) == ("shared-documents", "info")
    assert "% of the training documents equal a training document of another query" in finding.title


def test_lists_of_a_query_share_its_documents() -> None:
    """Documents in several result lists of one query are not those of another query."""
    features = sound().matrix.copy()
    half = ROWS // 2
    features[half:] = features[:half]  # each query has two lists with the same documents
    list_ids = [f"q{number % (QUERIES // 2)}/{number}" for number in range(QUERIES)]
    lists, judged = sound(features=features, query_ids=list_ids), _other(features=features)
    by_list, by_query = (
        next(
            each
            for each in compare(lists, judged, "test", query_of=query_of)
            if each.code == "shared-documents"
        )
        for query_of in (None, query_of_list)
    )
    assert "equal a training document of another query" in by_list.title
    assert "another query" not in by_query.title
    assert (by_list.severity, by_query.severity) == ("info", "warning")
    assert compare(lists, judged, "test", compares_documents=False) == ()


def test_documents_without_features_are_not_shared() -> None:
    """Documents without features are alike everywhere, and are not compared."""
    train, other = sound().matrix.copy(), _other().matrix.copy()
    train[:50], other[:50] = 0.0, np.nan
    assert compare(sound(features=train), _other(features=other), "test") == ()


def test_documents_are_compared_by_the_names_of_their_features() -> None:
    """Columns may be in another order, or fewer."""
    order = [3, 1, 0]
    names = [sound().feature_names[column] for column in order]
    other = _other(features=sound().features[:, order], feature_names=names)
    findings = {finding.code: finding for finding in compare(sound(), other, "test")}
    assert findings.keys() == {"shared-documents", "features-absent"}
    assert findings["shared-documents"].count == ROWS
    assert findings["features-absent"].examples == ("freshness",)
    assert findings["features-absent"].title == "1 of 4 features of the training data is not in the test data"


def test_features_that_training_lacks_are_a_warning() -> None:
    """Documents are not compared if the datasets share no feature."""
    finding, added = compare(sound(), _other(feature_names=["a", "b", "c", "d"]), "validation")
    assert (finding.code, finding.count) == ("features-absent", 4)
    assert (added.code, added.severity, added.examples) == ("features-added", "warning", ("a", "b", "c", "d"))
    assert added.title == "All 4 features of the validation data are not in the training data"


@pytest.mark.parametrize(
    ("judged", "count"),
    [
        (lambda labels: labels + 1, 20),
        (lambda labels: np.minimum(labels, 1), 0),
        (lambda labels: np.where(labels == 3, 2.5, labels), 20),
    ],
    ids=["from 1", "0 and 1", "halves"],
)
def test_another_scale_of_labels_is_a_warning(judged: Any, count: int) -> None:
    """Labels may be new, or expected labels absent; the finding counts the documents of new labels."""
    finding = _only_finding(sound(), _other(labels=judged(sound().labels)))
    assert (finding.code, finding.severity, finding.count) == ("label-scale", "warning", count)
    assert "the labels of the training data are 0, 1, 2, 3" in finding.title


def test_a_rare_label_may_be_absent_from_a_small_dataset() -> None:
    """The absence of a label that is expected in only ten documents proves nothing."""
    few = _other(labels=np.minimum(sound().labels, 2)).select_queries(range(10))
    assert compare(sound(), few, "test") == ()


@pytest.mark.parametrize(("factor", "codes"), [(1.9, set()), (2.1, {"label-scale"}), (0.4, {"label-scale"})])
def test_many_distinct_labels_are_compared_by_their_largest(factor: float, codes: set[str]) -> None:
    """Labels that are clicks differ from one dataset to the next."""
    clicks = np.random.default_rng(0).permutation(ROWS) / 7
    found = compare(sound(labels=clicks), _other(labels=factor * clicks[::-1]), "test")
    assert {finding.code for finding in found} == codes


def test_missing_labels_have_no_scale() -> None:
    """Data to be ranked need no labels."""
    unjudged = _other(labels=np.full(ROWS, np.nan))
    assert compare(sound(), unjudged, "test") == compare(unjudged, sound(), "test") == ()


def test_one_and_two_threads_find_the_same() -> None:
    """Hashes do not depend on the thread that computes them."""
    other = _other(features=_features_sharing(12))
    assert compare(sound(), other, "test", threads=2) == compare(sound(), other, "test")
