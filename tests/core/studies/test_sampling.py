"""Sampling of the next trial's parameters."""

import math

import pytest

from core.errors import InvalidInput
from core.studies import sampling
from core.studies.sampling import PastTrial, TrialPosition, combinations_taken, sample, sampler_limit
from core.studies.search_space import search_space

RATE = "/hyperparameters/learning_rate"
BASE = {"loss": {"name": "lambdarank"}}
SPACE = {RATE: {"type": "float", "low": 0.01, "high": 0.1, "step": 0.03}}


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_each_value_of_a_number_with_a_step_is_sampled(sampler: str) -> None:
    """The largest value is sampled, although 0.01 + 3 * 0.03 is less than 0.1 as a float."""
    space = search_space(SPACE)
    past = [PastTrial(0, {RATE: 0.1}, 0.1)]
    for number in range(1, 40):
        position = TrialPosition(seed=1, number=number, index=number - 1, higher_is_better=True)
        parameters = sample(sampler, space, BASE, position, past)
        space.check(BASE, parameters)
        past.append(PastTrial(number, parameters, 0.1))
    assert {trial.parameters[RATE] for trial in past[1:]} == {0.01, 0.04, 0.07, 0.1}


def test_a_grid_does_not_repeat_trials_added_by_hand() -> None:
    """A combination that a user added is skipped by the sampler, and no combination is left out."""
    space = search_space(SPACE)

    def sampled(index: int, others: list[dict[str, float]]) -> dict[str, float]:
        position = TrialPosition(1, index + 1, index, higher_is_better=True, others=others)
        return sample("grid", space, BASE, position, [])

    first, second, third = (sampled(index, []) for index in range(3))
    assert sampled(0, [second]) == first
    assert sampled(0, [first]) == second
    assert sampled(1, [second, first]) == third
    assert combinations_taken(space, BASE, [second, {RATE: 0.1}], [first]) == 1
    assert combinations_taken(space, BASE, [first], [first]) == 0


@pytest.mark.parametrize("draws", [1, 10])
@pytest.mark.parametrize("sampler", ["random", "tpe", "qmc"])
def test_parameters_are_not_repeated_while_others_are_left(
    sampler: str, draws: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A combination is repeated only after all were sampled; equal calls return equal parameters."""
    monkeypatch.setattr(sampling, "_DRAWS", draws)
    choices = {"type": "choice", "choices": ["basic", "advanced"]}
    space = search_space({**SPACE, "/hyperparameters/monotone_constraints_method": choices})
    past: list[PastTrial] = []
    for number in range(9):
        others = [trial.parameters for trial in past]
        position = TrialPosition(1, number, number, higher_is_better=True, others=others)
        parameters = sample(sampler, space, BASE, position, past)
        assert parameters == sample(sampler, space, BASE, position, past)
        assert (parameters in others) == (number == 8)
        past.append(PastTrial(number, parameters, 0.1 * number))


@pytest.mark.parametrize("sampler", ["random", "tpe", "qmc"])
def test_a_finite_search_space_limits_the_trials(sampler: str) -> None:
    """A search space with a continuous number has no limit."""
    assert sampler_limit(sampler, search_space(SPACE), BASE) == 3
    continuous = {RATE: {"type": "float", "low": 0.01, "high": 0.1}}
    assert sampler_limit(sampler, search_space(continuous), BASE) is None


def test_a_grid_does_not_repeat_the_default() -> None:
    """The default learning rate is 0.1, a value of the grid."""
    assert sampler_limit("grid", search_space(SPACE), BASE) == 3


@pytest.mark.parametrize("bound", ["low", "high"])
def test_an_infinite_bound_is_refused_at_its_pointer(bound: str) -> None:
    """The error points at the bound that is not finite."""
    dimension = {"type": "float", "low": 0.0, "high": 1.0, bound: math.inf}
    with pytest.raises(InvalidInput) as caught:
        search_space({"/scorer/learning_rate": dimension})
    assert [problem.pointer for problem in caught.value.problems] == [f"/~1scorer~1learning_rate/{bound}"]


@pytest.mark.parametrize(("low", "high", "step"), [(-0.5, 9.5, 1e-7), (4.8, 70.0, 1 / 3), (0.0, 1e8, 0.7)])
def test_the_values_of_small_steps_are_within_the_space(low: float, high: float, step: float) -> None:
    """Trials outside the space are left out of TPE's past trials; quotients of many steps are rounded."""
    bounds = {"type": "float", "low": low, "high": high, "step": step}
    (dimension,) = search_space({"/hyperparameters/lambda_l2": bounds}).dimensions
    assert all(
        dimension.contains(dimension.quantile(share)) for share in (number / 50 for number in range(50))
    )
    assert not dimension.contains(low + 1.5 * step)
