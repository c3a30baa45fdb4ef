"""Names of hyperparameters: LightGBM's, and suggestions for others."""

import pytest
from lightgbm.basic import _ConfigAliases

from core.errors import InvalidInput
from core.losses import make_loss
from core.parameters import build, parameters_of
from core.training import Hyperparameters

OURS = {"query_fraction"}
NAMES = [parameter.name for parameter in parameters_of(Hyperparameters)]


def refusal(values: dict[str, object]) -> str:
    """Return the message about one wrong hyperparameter."""
    with pytest.raises(InvalidInput) as refused:
        build(Hyperparameters, values, "/hyperparameters")
    (problem,) = refused.value.problems
    assert problem.pointer == f"/hyperparameters/{next(iter(values))}"
    return problem.detail


def test_names_and_aliases_are_those_of_lightgbm() -> None:
    """Every hyperparameter but our own has LightGBM's name, and lists all of its aliases."""
    theirs = _ConfigAliases._get_all_param_aliases()
    for parameter in parameters_of(Hyperparameters):
        if parameter.name not in OURS:
            assert {parameter.name, *parameter.aliases} == set(theirs[parameter.name]), parameter.name


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("n_estimators", "num_iterations"),
        ("eta", "learning_rate"),
        ("num_leaf", "num_leaves"),
        ("min_child_samples", "min_data_in_leaf"),
        ("subsample", "bagging_fraction"),
        ("colsample_bytree", "feature_fraction"),
        ("reg_lambda", "lambda_l2"),
        ("learning_rat", "learning_rate"),
        ("Num_Leaves", "num_leaves"),
        ("min_child_sample", "min_data_in_leaf"),
    ],
)
def test_a_wrong_name_gets_a_suggestion(wrong: str, meant: str) -> None:
    """Aliases of LightGBM, and names that are nearly right, are answered with the right one."""
    assert refusal({wrong: 1}) == f"unknown; did you mean {meant}?"


def test_the_error_of_a_name_that_belongs_elsewhere_has_the_place() -> None:
    """A job sets some names of LightGBM outside its hyperparameters."""
    assert refusal({"objective": "lambdarank"}) == "unknown; set loss of the job instead"
    assert refusal({"random_state": 3}) == "unknown; set seed of the job instead"
    assert not set(Hyperparameters.ELSEWHERE) & set(NAMES)


def test_a_name_that_is_similar_to_none_gets_a_list() -> None:
    """The error lists all known names."""
    assert refusal({"zzz": 1}) == f"unknown; known here: {', '.join(NAMES)}"
    assert "num_leaves" in refusal({"x" * 100_000: 1})
    with pytest.raises(InvalidInput, match=r"^/hyperparameters/a~1b: unknown"):
        build(Hyperparameters, {"a/b": 1}, "/hyperparameters")


def test_hyperparameters_of_losses_are_suggested_too() -> None:
    """LightGBM's names of a loss's hyperparameters, and similar names, get a suggestion."""
    for wrong, meant in {
        "lambdarank_truncation_level": "truncation_level",
        "sigmoid": "sigma",
        "label_gain": "gain",
        "trunction_level": "truncation_level",
    }.items():
        with pytest.raises(InvalidInput, match=rf"/{wrong}: unknown; did you mean {meant}\?"):
            make_loss("lambdarank", **{wrong: 1})


@pytest.mark.parametrize("value", [["fast"], pytest.param(10**400, id="beyond float64"), {"a": 1.0}])
def test_a_value_that_is_not_a_finite_number_is_refused(value: object) -> None:
    """A list of names, or a whole number beyond float64, is refused with its place."""
    refusal({"learning_rate": value})
    with pytest.raises(InvalidInput, match="/sigma: must be a finite number"):
        make_loss("lambdarank", sigma=value)


@pytest.mark.parametrize("gain", [["a"], pytest.param([10**400], id="beyond float64"), [0, None]])
def test_gains_that_are_not_finite_numbers_are_refused(gain: list[object]) -> None:
    """Each entry of a list must be a finite number."""
    with pytest.raises(InvalidInput, match="/gain: must be a name or a list of finite numbers"):
        make_loss("lambdarank", gain=gain)
