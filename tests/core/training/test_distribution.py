"""Distribution of a training: bounds, JSON and refusals."""

from typing import Any

import pytest

from core.errors import InvalidInput
from core.losses import LOSSES
from core.stored import read_entries, write_entries
from core.training import TrainingSpec, training_spec
from core.training.distribution import (
    MAX_RANKS,
    Distribution,
    Ranks,
    check_distribution,
    distribution_problems,
)

LAMBDARANK = {"loss": {"name": "lambdarank"}}


def spec(**values: Any) -> TrainingSpec:
    """Return a specification of trees with some values."""
    return training_spec(LAMBDARANK | values)


def refused_pointers(training: TrainingSpec, *, has_folds: bool = False) -> list[str]:
    """Return the pointers of the refused values."""
    return [problem.pointer for problem in distribution_problems(training, has_folds=has_folds)]


def test_a_distribution_has_defaults() -> None:
    """An empty object asks for 2 to 8 ranks of one thread."""
    assert read_entries(Distribution, {}) == Distribution(Ranks(2, 8), 1)
    assert read_entries(Distribution, {"ranks": {"at_most": 3}, "threads_per_rank": 4}) == Distribution(
        Ranks(2, 3), 4
    )


@pytest.mark.parametrize(
    "distribution",
    [Distribution(), Distribution(Ranks(3, 5), 7), Distribution(Ranks(64, 64), 256)],
)
def test_a_distribution_is_read_back_as_it_was_stored(distribution: Distribution) -> None:
    """A round trip to JSON and back keeps the distribution."""
    assert read_entries(Distribution, write_entries(distribution)) == distribution


@pytest.mark.parametrize(
    ("values", "pointers"),
    [
        ({"ranks": {"at_least": 1}}, ["/ranks/at_least"]),
        ({"ranks": {"at_most": MAX_RANKS + 1}}, ["/ranks/at_most"]),
        ({"ranks": {"at_least": 4, "at_most": 3}}, ["/ranks/at_most"]),
        ({"ranks": {"at_least": 9}}, ["/ranks/at_most"]),
        ({"ranks": {"at_least": 2.5, "at_most": True}}, ["/ranks/at_least", "/ranks/at_most"]),
        ({"threads_per_rank": 0}, ["/threads_per_rank"]),
        ({"threads_per_rank": 257}, ["/threads_per_rank"]),
        ({"ranks": 4}, ["/ranks"]),
        ({"machines": 4, "threads": 2}, ["/machines", "/threads"]),
        (4, [""]),
    ],
)
def test_numbers_out_of_bounds_are_refused(values: Any, pointers: list[str]) -> None:
    """The errors have the pointers of all wrong numbers."""
    with pytest.raises(InvalidInput) as invalid:
        read_entries(Distribution, values, exact=True)
    assert [problem.pointer for problem in invalid.value.problems] == pointers


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_can_be_distributed(loss: str) -> None:
    """Every loss is computed query by query, so that ranks can have different queries."""
    assert not distribution_problems(training_spec({"loss": {"name": loss}}), has_folds=False)


@pytest.mark.parametrize(
    "hyperparameters",
    [
        {"query_fraction": 0.5, "feature_fraction": 0.5, "feature_fraction_bynode": 0.5},
        {"monotone_constraints": {"bm25": 1}, "monotone_penalty": 1.0},
        {"feature_contri": {"bm25": 0.5}},
        {"bagging_fraction": 0.5},
        {"bagging_freq": 5},
        {"path_smooth": 1.0, "max_delta_step": 1.0, "lambda_l1": 1.0},
    ],
)
def test_hyperparameters_that_are_the_same_on_each_rank_can_be_distributed(
    hyperparameters: dict[str, Any],
) -> None:
    """Queries are drawn from those of all ranks; `bagging_fraction` alone draws nothing."""
    assert not refused_pointers(spec(hyperparameters=hyperparameters))


@pytest.mark.parametrize(
    "hyperparameters",
    [
        {"boosting": "dart"},
        {"data_sample_strategy": "goss"},
        {"bagging_fraction": 0.5, "bagging_freq": 1},
        {"use_quantized_grad": True},
        {"linear_tree": True},
        {"extra_trees": True},
        {"interaction_constraints": [["bm25", "pagerank"]]},
        {"monotone_constraints_method": "intermediate"},
        {"monotone_constraints_method": "advanced"},
    ],
)
def test_hyperparameters_that_depend_on_the_rank_are_refused_with_the_reason(
    hyperparameters: dict[str, Any],
) -> None:
    """The pointer is that of the first hyperparameter."""
    (problem,) = distribution_problems(spec(hyperparameters=hyperparameters), has_folds=False)
    assert problem.pointer == f"/hyperparameters/{next(iter(hyperparameters))}"
    assert problem.detail.startswith("cannot be distributed: ")


@pytest.mark.parametrize("kind", ["mlp", "linear"])
def test_networks_are_refused(kind: str) -> None:
    """Only trainings of trees can be distributed."""
    (problem,) = distribution_problems(spec(scorer={"kind": kind}), has_folds=False)
    assert problem.pointer == "/distribution"
    assert problem.detail == f"applies to trees only; a {kind} is trained by one process"


def test_diagnostics_and_folds_are_refused() -> None:
    """One error lists them together with all other problems."""
    training = spec(diagnostics={"interval": 1}, hyperparameters={"boosting": "dart", "linear_tree": True})
    pointers = ["/hyperparameters/boosting", "/hyperparameters/linear_tree", "/diagnostics", "/validation"]
    assert refused_pointers(training, has_folds=True) == pointers
    with pytest.raises(InvalidInput) as invalid:
        check_distribution(training, has_folds=True)
    assert [problem.pointer for problem in invalid.value.problems] == pointers
