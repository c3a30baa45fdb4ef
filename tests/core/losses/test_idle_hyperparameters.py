"""Each loss reports exactly the hyperparameters that have no effect beside its other values."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from core.losses import LOSSES, Loss, make_loss
from core.parameters import Parameter, parameters_of, values_of
from tests.core.losses.test_derivatives import joined, random_queries

# A query with its relevant documents below every truncation level, and more of them than can be selected.
_SPARSE = np.zeros(20)
_SPARSE[[9, 12, 15, 17, 18]] = 1, 1, 1, 2, 1
SCORES, LABELS, BOUNDARIES = joined(
    [*random_queries(seed=21, count=12), (np.linspace(2.0, -2.0, 20), _SPARSE)]
)
ITERATIONS = range(2)
# Values that differ from any default and from each other.
NUMBERS: dict[str, list[Any]] = {
    "sigma": [0.5, 3.0],
    "hessian_factor": [0.5, 2.0],
    "ideal_cutoff": [1, 4],
    "truncation_level": [2, 5],
    "samples": [2, 5],
    "noise": [0.3, 4.0],
    "seed": [5, 11],
    "mu": [0.1, 2.0],
    "max_label": [5, 7],
    "persistence": [0.3, 0.6],
}


def combinations() -> Iterator[Any]:
    """Yield each loss with the combinations of its choices, with and without noise and truncation.

    For losses with noise, half of the combinations are slow tests; neighbouring losses alternate.
    """
    for index, (name, cls) in enumerate(LOSSES.items()):
        declared = {p.name: p for p in parameters_of(cls)}
        varied: dict[str, list[Any]] = {
            p.name: list(p.choices) for p in declared.values() if p.choices and p.name != "pair_selection"
        }
        varied.pop("gain", None)
        varied.pop("discount", None)
        varied.pop("normalization", None)
        # The test changes these two beside all others; combinations in which they are set are below.
        varied.pop("missed_labels", None)
        varied.pop("ranking_model", None)
        if "noise" in declared:
            varied["noise"] = [0.0, 1.0]
            varied["selection"] = [(None, None), (3, None), (3, "static"), (3, "random")]
        for numbers in product(*(range(len(values)) for values in varied.values())):
            options = {key: varied[key][number] for key, number in zip(varied, numbers, strict=True)}
            marks = () if "noise" not in varied or (index + sum(numbers)) % 2 == 0 else pytest.mark.slow
            if selection := options.pop("selection", None):
                options["truncation_level"], options["pair_selection"] = selection
            yield pytest.param(name, options, marks=marks)
    by_set = {"truncation_level": 3, "missed_labels": "set"}
    for strategy in ("static", "all-random"):
        yield pytest.param("lambdarank", by_set | {"pair_selection": strategy})
    for noise in (0.0, 1.0):
        soft = {"assignment": "soft", "noise": noise, "ranking_model": "plackett-luce"}
        yield pytest.param("lambdarank", soft)


def terms_of(loss: Loss) -> Any:
    """Return the value, gradient and hessian over some iterations."""
    objective = loss.prepare(LABELS, BOUNDARIES)
    found = (objective.terms(SCORES, iteration) for iteration in ITERATIONS)
    return np.concatenate([np.concatenate((t.value, t.gradient, t.hessian)) for t in found])


def other_values(declared: Parameter, values: dict[str, Any]) -> list[Any]:
    """Return the other values of a hyperparameter that are valid beside the remaining values."""
    choices: list[Any] = list(declared.choices) or NUMBERS[declared.name]
    if declared.name == "gain":
        choices = ["linear", (0.0, 1.0, 4.0, 5.0, 30.0, 31.0, 32.0, 33.0)]
    if declared.name == "pair_selection" and values["truncation_level"] is None:
        return []
    return [value for value in choices if value != values[declared.name]]


@pytest.mark.long
@pytest.mark.parametrize(("name", "options"), list(combinations()))
def test_a_loss_names_exactly_the_hyperparameters_without_effect(name: str, options: dict[str, Any]) -> None:
    """A change of a hyperparameter keeps the terms, up to rounding, exactly if the loss reports it."""
    loss = make_loss(name, **options)
    plain, values = terms_of(loss), values_of(loss)

    def keeps_terms(parameter: str, value: Any) -> bool:
        other = terms_of(make_loss(name, **(values | {parameter: value})))
        return np.allclose(other, plain, rtol=1e-9, atol=1e-12)

    unchanged = {
        p.name
        for p in parameters_of(type(loss))
        if (changed := other_values(p, values)) and all(keeps_terms(p.name, value) for value in changed)
    }
    assert set(loss.ineffective_hyperparameters()) == unchanged
    assert loss.is_random == ("seed" in values and "seed" not in unchanged)
