"""Grow trees with a team of ranks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from core.metrics import parse_metric
from core.training import TrainingSpec
from core.types import Float64Array
from worker.ranks.parts import unpacked
from worker.ranks.team import Team

Answers = list[dict[str, Any]]


class Leader:
    """A booster distributed over ranks, with the methods of `core.training.growth.FinishedTraining`.

    Args:
        on_wait: Called while a tree grows; may raise to end the training.

    Attributes:
        is_exhausted: Whether the last tree had no split with a gain.
    """

    def __init__(self, team: Team, on_wait: Callable[[], None]) -> None:
        self._team = team
        self._on_wait = on_wait
        self.is_exhausted = False

    def grow(self, *, measures: bool) -> Answers | None:
        """Grow a tree; return the ranks' answers, None if no tree was grown."""
        answers = self._team.ask({"do": "grow", "measures": measures}, on_wait=self._on_wait)
        self.is_exhausted = answers[0]["is_exhausted"]
        return answers if answers[0]["has_grown"] else None

    def measure(self) -> Answers:
        """Return the ranks' answers with loss and metrics of the present trees."""
        return self._team.ask({"do": "measure"}, on_wait=self._on_wait)

    def state(self) -> tuple[str, dict[str, Float64Array]]:
        """Return the trees so far, and the present scores by dataset, without checks for interruptions."""
        answers = self._team.ask({"do": "state"}, on_wait=lambda: None)
        scores = {
            name: np.concatenate([unpacked(answer["scores"][name]) for answer in answers])
            for name in answers[0]["scores"]
        }
        return answers[0]["text"], scores

    def model_text(self, iterations: int) -> str:
        """Return the model of the first iterations; no tree can be grown afterwards."""
        text: str = self._team.ask({"do": "model", "iterations": iterations})[0]["text"]
        return text

    def leaf_counts(self, model_text: str) -> Any:
        """Count the training documents in the leaves of a model; see `core.training.leaf_counts`.

        The ranks free their boosters first.
        """
        return sum(
            unpacked(answer["counts"]) for answer in self._team.ask({"do": "leaf_counts", "text": model_text})
        )

    def first_hessian_sum(self) -> float:
        """Return the sum of the hessians before the first tree."""
        return float(sum(self._inspect("first_hessian_sum")))

    def has_gradient(self) -> bool:
        """Return whether any document still has a nonzero gradient."""
        return any(self._inspect("has_gradient"))

    def decisive_bound(self) -> str | None:
        """Return the hyperparameter whose bound alone prevents another tree; call this last on a team."""
        bound: str | None = self._inspect("decisive_bound")[0]
        return bound

    def _inspect(self, name: str) -> list[Any]:
        return [answer["value"] for answer in self._team.ask({"do": "inspect", "property": name})]


def means(spec: TrainingSpec, answers: Answers) -> dict[str, Mapping[str, float | None]]:
    """Return the means over the queries of all ranks, equal to the means of one process.

    Args:
        answers: Answers of `Leader.grow`.
    """
    return {
        name: {
            metric: _mean(spec, metric, [unpacked(answer["values"][name][metric]) for answer in answers])
            for metric in metrics
        }
        for name, metrics in answers[0]["values"].items()
    }


def slowest(answers: Answers) -> dict[str, float]:
    """Return the milliseconds of the slowest rank by part of the iteration."""
    milliseconds: dict[str, float] = {}
    for answer in answers:
        for part, spent in answer["milliseconds"].items():
            milliseconds[part] = max(milliseconds.get(part, 0.0), spent)
    return milliseconds


def _mean(spec: TrainingSpec, metric: str, parts: Sequence[Float64Array]) -> float | None:
    values = np.concatenate(parts)  # in the order of the dataset, since float sums depend on the order
    return float(values.mean()) if metric == "loss" else parse_metric(metric, spec.conventions).mean(values)
