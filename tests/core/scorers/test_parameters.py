"""Kinds of scorers and their hyperparameters."""

from typing import Any

import pytest

from core.errors import InvalidInput
from core.scorers import SCORERS, Linear, Mlp, Trees, WeightedSum, make_scorer, scorer_values


def test_trees_are_the_default() -> None:
    """A training without a scorer trains trees."""
    assert make_scorer(None) == make_scorer({"kind": "trees"}) == Trees()
    assert not Trees.is_network
    assert list(SCORERS) == ["trees", "linear", "mlp", "sum"]


@pytest.mark.parametrize(
    "values",
    [
        {
            "kind": "linear",
            "optimizer": "sgd",
            "learning_rate": 0.1,
            "decay_on_rise": 0.8,
            "restart_epochs": 50,
        },
        {"kind": "mlp", "hidden": [10], "activation": "tanh", "dropout": 0.25, "layer_norm": True},
        {"kind": "mlp", "inputs": "rank-gauss", "log1p": True, "missing_indicators": True},
        {"kind": "sum", "models": ["web:3", "net:1"], "weights": [0.7, 0.3]},
        {"kind": "sum", "models": ["web:3"], "weights": None},
    ],
)
def test_values_are_read_back(values: dict[str, Any]) -> None:
    """A scorer is built again from its stored hyperparameters, which include the defaults."""
    scorer = make_scorer(values)
    assert make_scorer(scorer_values(scorer)) == scorer
    assert scorer_values(scorer).items() >= values.items()


def test_a_stored_sum_is_fitted_as_in_its_release() -> None:
    """Jobs of releases that did not shrink weights are reproduced without shrinkage."""
    values = {"kind": "sum", "models": ["web:3"], "weights": None}
    assert make_scorer(values) == WeightedSum(("web:3",), shrinkage="cross-validated")
    assert make_scorer(values, stored=True) == WeightedSum(("web:3",), shrinkage="none")


def test_only_networks_have_hidden_layers() -> None:
    """A linear scorer has no hidden layers, and a network has those of `hidden`."""
    assert Linear().hidden_layers == ()
    assert Mlp(hidden=(7, 3)).hidden_layers == (7, 3)


@pytest.mark.parametrize(
    ("values", "pointer"),
    [
        ({}, "/kind"),
        ({"kind": "forest"}, "/kind"),
        ({"kind": ["mlp"]}, "/kind"),
        ({"kind": "mlp", "hidden": []}, "/hidden"),
        ({"kind": "mlp", "hidden": [0]}, "/hidden"),
        ({"kind": "mlp", "hidden": [4] * 17}, "/hidden"),
        ({"kind": "mlp", "activation": "gelu"}, "/activation"),
        ({"kind": "mlp", "dropout": 1.0}, "/dropout"),
        ({"kind": "linear", "hidden": [3]}, "/hidden"),
        ({"kind": "linear", "learning_rate": 0}, "/learning_rate"),
        ({"kind": "linear", "optimizer": "lamb"}, "/optimizer"),
        ({"kind": "linear", "inputs": "minmax"}, "/inputs"),
    ],
)
def test_invalid_values_are_refused_with_a_pointer(values: dict[str, Any], pointer: str) -> None:
    """Unknown names and values out of bounds are refused."""
    with pytest.raises(InvalidInput) as refused:
        make_scorer(values)
    assert {problem.pointer.split("/")[1] for problem in refused.value.problems} == {pointer[1:]}
