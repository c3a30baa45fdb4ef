"""Features of a dataset that a training uses."""

import pytest

from core.data.feature_choice import FeatureChoice
from core.errors import InvalidInput
from core.stored import read_entries, write_entries

NAMES = ("bm25", "pagerank", "clicks")


def test_both_options_keep_the_order_of_the_dataset() -> None:
    """The order of a list has no meaning."""
    assert FeatureChoice(use=("clicks", "bm25")).of(NAMES) == ("bm25", "clicks")
    assert FeatureChoice(leave_out=("pagerank",)).of(NAMES) == ("bm25", "clicks")


def test_a_block_name_selects_its_features() -> None:
    """A block is chosen by the name of its column, beside features by their names."""
    names = ("bm25", "emb.0", "emb.1", "clicks", "emb.x")
    assert FeatureChoice(use=("emb", "clicks")).of(names) == ("emb.0", "emb.1", "clicks")
    assert FeatureChoice(leave_out=("emb",)).of(names) == ("bm25", "clicks", "emb.x")
    assert FeatureChoice(leave_out=("emb.1",)).of(names) == ("bm25", "emb.0", "clicks", "emb.x")
    with pytest.raises(InvalidInput, match="/use: the dataset has no feature 'emb'"):
        FeatureChoice(use=("emb",)).of(("emb.0", "emb.2"))


def test_a_choice_reads_back_as_it_was_stored() -> None:
    """A choice stays the same through JSON."""
    for choice in (FeatureChoice(use=("bm25",)), FeatureChoice(leave_out=("clicks", "bm25"))):
        assert read_entries(FeatureChoice, write_entries(choice)) == choice


@pytest.mark.parametrize("given", [{}, {"use": ["a"], "leave_out": ["b"]}, {"use": None, "leave_out": []}])
def test_a_choice_has_one_of_two_options(given: dict[str, list[str]]) -> None:
    """Neither option and both options together are refused."""
    with pytest.raises(InvalidInput, match="must have exactly one of use and leave_out"):
        read_entries(FeatureChoice, given)


@pytest.mark.parametrize(
    ("choice", "problem"),
    [
        (
            FeatureChoice(use=("bm25", "pageranc")),
            "/use: the dataset has no feature 'pageranc'; did you mean",
        ),
        (
            FeatureChoice(leave_out=("zz",)),
            "/leave_out: the dataset has no feature 'zz'; it has bm25, pagerank",
        ),
        (FeatureChoice(leave_out=NAMES), "/leave_out: must leave at least one feature"),
    ],
)
def test_choices_that_do_not_fit_the_dataset_are_refused(choice: FeatureChoice, problem: str) -> None:
    """The error has the list and the nearest name."""
    with pytest.raises(InvalidInput, match=problem):
        choice.of(NAMES)


def test_many_unknown_names_are_refused_without_a_long_search() -> None:
    """The first five names have a suggestion."""
    unknown = tuple(f"bm2{number}" for number in range(6, 12))
    with pytest.raises(InvalidInput) as caught:
        FeatureChoice(use=unknown).of(NAMES)
    assert ["did you mean bm25?" in problem.detail for problem in caught.value.problems] == [True] * 5 + [
        False
    ]
