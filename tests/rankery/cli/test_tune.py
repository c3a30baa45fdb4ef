"""Search spaces of `rankery tune --space` and `client.tune`."""

from typing import Any

import pytest

from rankery.cli.texts import NotUnderstood
from rankery.cli.tune import search_dimension
from rankery.client.arguments import search_space_field, trial_parameters
from rankery.errors import InvalidArgument


@pytest.mark.parametrize(
    ("text", "pointer", "parameter"),
    [
        ("num_leaves=4..64:log", "/hyperparameters/num_leaves", ("int", 4, 64, True)),
        ("lambda_l2=1e-3..100", "/hyperparameters/lambda_l2", ("float", 1e-3, 100, False)),
        ("loss.sigma=0.5..2", "/loss/sigma", ("float", 0.5, 2, False)),
    ],
)
def test_a_range_has_the_type_of_its_ends(text: str, pointer: str, parameter: tuple[Any, ...]) -> None:
    """Whole bounds give whole numbers, and `:log` draws on a logarithmic scale."""
    expected = dict(zip(("type", "low", "high", "log"), parameter, strict=True))
    assert search_dimension(text) == (pointer, expected)


def test_choices_are_numbers_texts_or_losses() -> None:
    """A list without a range is a list of choices, and losses are objects."""
    assert search_dimension("max_depth=3,5") == (
        "/hyperparameters/max_depth",
        {"type": "choice", "choices": [3, 5]},
    )
    losses = [{"name": "lambdarank"}, {"name": "ranknet"}]
    assert search_dimension("loss=lambdarank,ranknet") == ("/loss", {"type": "choice", "choices": losses})


@pytest.mark.parametrize("text", ["num_leaves", "=4..5", "num_leaves=", "num_leaves=4..x"])
def test_other_texts_are_refused(text: str) -> None:
    """The error comes before an upload."""
    with pytest.raises(NotUnderstood, match="--space"):
        search_dimension(text)


def test_the_client_takes_short_forms() -> None:
    """Pairs are ranges, lists are choices, and objects are unchanged."""
    space = {"num_leaves": (4, 64, "log"), "/loss/sigma": (0.5, 2), "max_depth": [3, 5]}
    assert search_space_field(space) == {
        "/hyperparameters/num_leaves": {"type": "int", "low": 4, "high": 64, "log": True},
        "/loss/sigma": {"type": "float", "low": 0.5, "high": 2, "log": False},
        "/hyperparameters/max_depth": {"type": "choice", "choices": [3, 5]},
    }
    with pytest.raises(InvalidArgument, match="num_leaves"):
        search_space_field({"num_leaves": 5})


def test_the_client_takes_the_names_of_the_command_line() -> None:
    """Names of losses and of their options have the pointers of `--space`, in trials too."""
    space = {"loss": ["lambdarank", "ranknet"], "loss.sigma": (0.5, 2), "scorer.hidden": [[8], [16]]}
    texts = ["loss=lambdarank,ranknet", "loss.sigma=0.5..2", "scorer.hidden=[8],[16]"]
    assert search_space_field(space) == dict(search_dimension(text) for text in texts)
    assert trial_parameters({"loss": "ranknet", "/loss/sigma": 1.0, "epochs": 5}, is_network=True) == {
        "/loss": {"name": "ranknet"},
        "/loss/sigma": 1.0,
        "/scorer/epochs": 5,
    }
