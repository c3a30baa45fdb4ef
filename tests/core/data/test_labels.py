"""Labels: their range, their spelling, and mapping them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset
from core.data.labels import LabelRange, label_map, label_text, map_labels, map_range
from core.errors import InvalidInput

NAN = np.nan
LABEL = st.one_of(
    st.sampled_from([NAN, -1.0, -0.0, 0.0, 1.0, 2.5, 31.0]), st.floats(width=32, allow_infinity=False)
)


def _labels(*labels: float) -> Any:
    return np.array(labels, np.float32)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1, 4], LabelRange(0.0, 4.0, 0, True)),
        ([-1, NAN, 2], LabelRange(-1.0, 2.0, 1, True)),
        ([0.1, 2], LabelRange(0.1, 2.0, 0, False)),
        ([NAN, NAN], LabelRange(None, None, 2, True)),
    ],
)
def test_the_label_range_has_bounds_and_missing_labels(labels: list[float], expected: LabelRange) -> None:
    """The range has the least and greatest label, the number of missing labels, and whether all are whole."""
    assert LabelRange.of(_labels(*labels)) == expected


@pytest.mark.parametrize(
    ("labels", "details"),
    [
        ([NAN, 1], ['1 document has no label (NaN); map it, for example with {"nan": 0}']),
        ([-1, 0], ['the smallest label is -1; map each label below 0, for example with {"-1": 0}']),
        (
            [NAN, NAN, -0.5],
            [
                '2 documents have no label (NaN); map it, for example with {"nan": 0}',
                'the smallest label is -0.5; map each label below 0, for example with {"-0.5": 0}',
            ],
        ),
        ([0, 1e31], ["the largest label is 1e+31, but sums overflow for labels above 1e30; map such labels"]),
    ],
)
def test_unusable_labels_are_refused_with_a_solution(labels: list[float], details: list[str]) -> None:
    """All problems are reported together, each with the label map that solves it."""
    with pytest.raises(InvalidInput) as caught:
        LabelRange.of(_labels(*labels)).check()
    assert [(p.pointer, p.detail) for p in caught.value.problems] == [("/label_map", d) for d in details]


@pytest.mark.parametrize("labels", [[0, 1], [0.5], [1e30], []])
def test_labels_from_0_are_accepted(labels: list[float]) -> None:
    """Fractions, large labels, and an empty list are accepted."""
    LabelRange.of(_labels(*labels)).check()


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (2.0, "2"),
        (-1.0, "-1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (NAN, "nan"),
        (2.0**24, "16777216"),
        (1e20, "1e+20"),
    ],
)
def test_labels_have_their_shortest_spelling(label: float, text: str) -> None:
    """A label has its shortest spelling in float32, and equal labels have the same spelling."""
    assert label_text(label) == text


@given(LABEL, LABEL)
def test_labels_are_written_alike_if_and_only_if_they_are_equal(left: float, right: float) -> None:
    """NaN counts as equal to itself: the label that is missing."""
    assert (label_text(left) == label_text(right)) == (left == right or (np.isnan(left) and np.isnan(right)))


def test_a_map_may_name_labels_in_any_spelling() -> None:
    """The map keeps one spelling of each label."""
    assert label_map({"-1.0": 0, "NaN": 1, "1e0": 2.5, "-0": 3}) == {
        "-1": 0.0,
        "nan": 1.0,
        "1": 2.5,
        "0": 3.0,
    }


@pytest.mark.parametrize(
    ("values", "pointer", "detail"),
    [
        ({"bad": 0}, "/label_map/bad", "must be a label: a number such as -1, or nan"),
        ({"": 0}, "/label_map/", "must be a label"),
        ({"inf": 0}, "/label_map/inf", "must be a label"),
        ({"1e39": 0}, "/label_map/1e39", "must be a label"),
        ({"1_0": 0}, "/label_map/1_0", "must be a label"),
        ({"a/~": 0}, "/label_map/a~1~0", "must be a label"),
        ({"1": 0, "1.0": 2}, "/label_map/1.0", "repeats the label 1"),
        ({"1": -1}, "/label_map/1", "must be mapped to a number from 0 to 1e+30; found -1"),
        ({"1": NAN}, "/label_map/1", "found nan"),
        ({"1": 1e31}, "/label_map/1", "found 1e+31"),
        ({"1": True}, "/label_map/1", "found True"),
        ({"1": "2"}, "/label_map/1", "found '2'"),
    ],
)
def test_an_invalid_label_map_is_refused(values: dict[str, Any], pointer: str, detail: str) -> None:
    """The error points at the entry and describes valid values."""
    with pytest.raises(InvalidInput) as caught:
        label_map(values)
    (problem,) = caught.value.problems
    assert problem.pointer == pointer
    assert detail in problem.detail


def test_all_labels_are_mapped_at_the_same_time() -> None:
    """Labels can be exchanged; labels that are not named stay, and the given dataset does not change."""
    dataset = RankingDataset.from_arrays(np.zeros((6, 1)), [0, 1, NAN, -1, 0.1, 2], [0, 6])
    mapped = map_labels(dataset, label_map({"0": 1, "1": 0, "nan": 3, "-1": 0, "0.1": 5}))
    assert mapped.labels.tolist() == [1, 0, 3, 0, 5, 2]
    assert mapped.labels.dtype == np.float32
    assert np.isnan(dataset.labels[2])
    assert map_labels(dataset, {}) is dataset


@given(
    st.lists(LABEL, min_size=1, max_size=8),
    st.dictionaries(
        st.sampled_from(["nan", "-1", "0", "1", "2.5", "31", "7"]), st.sampled_from([0.0, 0.5, 40.0])
    ),
)
def test_the_range_of_mapped_labels_is_computed_from_the_statistics(
    labels: list[float], mapped: dict[str, float]
) -> None:
    """The range is exact if all different labels are known."""
    dataset = RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, [0, len(labels)])
    known = {float(label_text(label)) for label in labels if not np.isnan(label)}
    computed = map_range(LabelRange.of(dataset.labels), known, mapped)
    assert computed == LabelRange.of(map_labels(dataset, mapped).labels)


def test_the_mapped_range_assumes_that_unknown_labels_are_valid() -> None:
    """Of the labels that a map leaves, only known labels and the ends are certain."""
    wide = LabelRange(-1.0, 500.0, 0, False)
    assert map_range(wide, [2.0], {}) == wide
    assert map_range(wide, [2.0], {"-1": 0.0}) == LabelRange(0.0, 500.0, 0, True)
    assert map_range(wide, [2.0], {"500": 4.0}) == LabelRange(-1.0, 4.0, 0, True)


@pytest.mark.parametrize(
    ("label_range", "labels"),
    [
        (LabelRange(0.0, 4.0, 0, True), [0, 4]),
        (LabelRange(0.0, 4.0, 0, False), [0, 4, 0.5]),
        (LabelRange(0.5, 4.0, 0, False), [0.5, 4]),
        (LabelRange(None, None, 3, True), []),
    ],
)
def test_a_few_labels_represent_all(label_range: LabelRange, labels: list[float]) -> None:
    """The representatives are the ends, and one fraction if there may be fractions."""
    assert label_range.representatives().tolist() == labels
