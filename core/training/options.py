"""Options of trainings, each declared once.

The request, its form, `rankery train` and the client are derived from the declarations; see `make client`.
"""

from dataclasses import dataclass
from typing import Any

from core.parameters import parameter, parameters_of


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """Options of a training that are neither hyperparameters of the loss nor of the scorer."""

    bootstrap: bool = parameter(
        False,
        "Learn from as many training queries drawn with replacement by the seed, so that another seed gives"
        " another model",
    )
    # The last iteration is always measured.
    metric_interval: int = parameter(
        1, "Iterations from one measurement of loss and metrics to the next", minimum=1, maximum=100_000
    )


def changed_options(options: TrainingOptions) -> dict[str, Any]:
    """Return the options that differ from their defaults, which a job stores."""
    values = {option.name: (getattr(options, option.name), option.default) for option in _DECLARED}
    return {name: value for name, (value, default) in values.items() if value != default}


_DECLARED = parameters_of(TrainingOptions)
OPTION_NAMES = tuple(option.name for option in _DECLARED)
