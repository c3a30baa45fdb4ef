"""Search spaces of `rankery tune --space` and `client.tune`."""

from typing import Any

import pytest

from rankery.cli.texts import NotUnderstood
from rankery.cli.tune import searched
from rankery.client.arguments import spelled_space
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
    """Whole ends make whole numbers, and `:log` draws by the logarithm."""
    expected = dict(zip(("type", "low", "high", "log"), parameter, strict=True))
    assert searched(text) == (pointer, expected)


def test_choices_are_numbers_texts_or_losses() -> None:
    """A list without a range is of choices; losses are whole ones."""
    assert searched("max_depth=3,5") == (
        "/hyperparameters/max_depth",
        {"type": "choice", "choices": [3, 5]},
    )
    losses = [{"name": "lambdarank"}, {"name": "ranknet"}]
    assert searched("loss=lambdarank,ranknet") == ("/loss", {"type": "choice", "choices": losses})


@pytest.mark.parametrize("text", ["num_leaves", "=4..5", "num_leaves=", "num_leaves=4..x"])
def test_other_texts_are_refused(text: str) -> None:
    """A mistake is named before anything is uploaded."""
    with pytest.raises(NotUnderstood, match="--space"):
        searched(text)


def test_the_client_takes_short_forms() -> None:
    """Pairs are ranges, lists are choices, and objects stay as they are."""
    space = {"num_leaves": (4, 64, "log"), "/loss/sigma": (0.5, 2), "max_depth": [3, 5]}
    assert spelled_space(space) == {
        "/hyperparameters/num_leaves": {"type": "int", "low": 4, "high": 64, "log": True},
        "/loss/sigma": {"type": "float", "low": 0.5, "high": 2, "log": False},
        "/hyperparameters/max_depth": {"type": "choice", "choices": [3, 5]},
    }
    with pytest.raises(InvalidArgument, match="num_leaves"):
        spelled_space({"num_leaves": 5})
