"""Options of trainings, each declared once.

The request, its form, `rankery train` and the client are derived from the declarations; see `make client`.
"""

from dataclasses import dataclass
from typing import Any

from core.parameters import parameter, parameters_of


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """Options of a training that are neither hyperparameters of the loss nor of the scorer.

    Defaults must not change: stored jobs leave them out.
    """

    bootstrap: bool = parameter(
        False,
        "Train on a bootstrap sample of the training queries, drawn with replacement by the seed, so that"
        " each seed results in another model",
    )
    # The last requested iteration is always measured.
    metric_interval: int = parameter(
        1, "Number of iterations between two measurements of loss and metrics", minimum=1, maximum=100_000
    )


def changed_options(options: object) -> dict[str, Any]:
    """Return the options that differ from their defaults, of a request or a specification."""
    values = {option.name: (getattr(options, option.name), option.default) for option in _DECLARED}
    return {name: value for name, (value, default) in values.items() if value != default}


_DECLARED = parameters_of(TrainingOptions)
OPTION_NAMES = tuple(option.name for option in _DECLARED)
