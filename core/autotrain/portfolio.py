"""The candidates of an automatic training, by descending expected value per second."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from core.errors import InputProblem, InvalidInput
from core.losses import LOSSES
from core.metrics import conventions
from core.parameters import parameters_of
from core.scorers import Linear
from core.training.automatic import DatasetSize, hyperparameters_by_size
from core.training.spec import TrainingSpec, training_spec

# Measured iterations of a candidate; up to twice as many, since intervals are rounded down.
MEASUREMENTS = 12


@dataclass(frozen=True)
class Candidate:
    """A training to try.

    Attributes:
        complexity: Complexity of the model: 1 for sums over features, 2 for trees, 3 for networks.
        scorer: JSON of the scorer, None for trees.
        hyperparameters: Hyperparameters of trees; `auto` to choose them by the size of the dataset.
    """

    name: str
    complexity: int
    loss: Mapping[str, Any]
    scorer: Mapping[str, Any] | None = None
    hyperparameters: Mapping[str, Any] | str | None = None

    @property
    def is_network(self) -> bool:
        """Return whether the scorer is linear or a network, which do not support categorical features."""
        return self.scorer is not None

    @property
    def needs_jax(self) -> bool:
        """Return whether its training needs the extra `neural`."""
        return self.scorer is not None and self.scorer["kind"] != Linear.kind

    def spec(self, size: DatasetSize, metric: str, contract: Any, seed: int) -> TrainingSpec:
        """Return the specification of the candidate's training, with the most iterations that may be useful.

        A loss that uses gains of labels uses the gains of the contract.

        Args:
            metric: Spelling of the metric to select by.
            contract: JSON of the conventions of the metric.
        """
        has_gain = any(declared.name == "gain" for declared in parameters_of(LOSSES[self.loss["name"]]))
        gain = {"gain": conventions(contract).gain} if has_gain else {}
        values: dict[str, Any] = {
            "loss": {**self.loss, **gain},
            "metrics": [metric],
            "contract": contract,
            "seed": seed,
        }
        if self.scorer is not None:
            values["scorer"] = self.scorer
        elif isinstance(self.hyperparameters, str):
            by_size = hyperparameters_by_size(size)
            values["hyperparameters"] = by_size | {"num_iterations": 2 * by_size["num_iterations"]}
        else:
            values["hyperparameters"] = self.hyperparameters
        spec = training_spec(values)
        interval = max(1, spec.iterations // MEASUREMENTS)
        return training_spec(values | {"metric_interval": interval})


def portfolio(names: Collection[str] | None = None) -> list[Candidate]:
    """Return the candidates in order; `make bench-portfolio` measures the portfolio.

    Args:
        names: Names of the candidates to return, or None for all.

    Raises:
        InvalidInput: A name is unknown.
    """
    stored = json.loads(files("core.autotrain").joinpath("portfolio.json").read_text())
    candidates = [Candidate(**each) for each in stored]
    if names is None:
        return candidates
    all_names = [candidate.name for candidate in candidates]
    problems = [
        # Names may contain commas.
        InputProblem(f"/candidates/{index}", f"unknown; known: {', '.join(map(repr, all_names))}")
        for index, name in enumerate(names)
        if name not in all_names
    ]
    if problems:
        raise InvalidInput(*problems)
    return [candidate for candidate in candidates if candidate.name in names]
