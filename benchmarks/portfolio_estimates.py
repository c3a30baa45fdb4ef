"""Estimates of automatic trainings compared with the true values, and verdicts on labels without signal.

Usage: python -m benchmarks.portfolio_estimates [--draws N] [--queries N] [--first N]

Small datasets of the linear and the cubic family alternate: few queries are hardest to estimate from.
The truth is the mean over 2,000 more queries. Without signal, the labels are permuted.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.portfolio_data import FAMILIES
from core.autotrain import AutoSpec, AutoTrained, auto_train
from core.data import RankingDataset
from core.evaluation import measure
from core.metrics import DEFAULT
from core.scorers import read_model
from core.types import Float64Array
from core.warm_up import warm_up

_FAMILIES = ("linear", "cubic")
_TEST_QUERIES = 2_000
_SPEC = AutoSpec(metric="ndcg@5", budget_seconds=3_600.0)


@dataclass(frozen=True)
class Estimate:
    """The result of one draw.

    Attributes:
        standard_errors: Difference of the training's own estimate from the truth, in standard errors.
        covered: Whether the 95% interval of the estimate contains the truth.
        signal_found: Names of the baselines that the model of permuted labels is reported to beat.
    """

    standard_errors: float
    covered: bool
    signal_found: tuple[str, ...]


def estimate_draw(number: int, queries: int) -> Estimate:
    """Train on one draw, and on its permuted labels."""
    family = FAMILIES[_FAMILIES[number % len(_FAMILIES)]]
    training, test = family(queries, number), family(_TEST_QUERIES, 100_000 + number)
    found = auto_train(replace(_SPEC, seed=number), training)
    truth = float(np.nanmean(_values(found, test)))
    own = found.conclusion
    known = found.selected.choice.values
    known = known[~np.isnan(known)]
    error = (own.value - truth) / (known.std(ddof=1) / np.sqrt(len(known)))
    covered = own.interval is not None and own.interval[0] <= truth <= own.interval[1]
    labels = np.random.default_rng(number).permutation(training.labels)
    noise = auto_train(replace(_SPEC, seed=number), replace(training, labels=labels))
    better = tuple(each.name for each in noise.conclusion.baselines if each.verdict == "better")
    return Estimate(float(error), covered, better)


def _values(found: AutoTrained, test: RankingDataset) -> Float64Array:
    scores = read_model(found.content).score(test.features)
    return measure(scores, test, [_SPEC.metric], DEFAULT)[_SPEC.metric]


def report(estimates: Sequence[Estimate]) -> str:
    """Return the figures in words."""
    errors = np.array([each.standard_errors for each in estimates])
    at_random = sum("random order" in each.signal_found for each in estimates)
    at_all = sum(bool(each.signal_found) for each in estimates)
    return (
        f"{len(estimates)} draws: own estimate minus truth {errors.mean():+.2f} standard errors"
        f" (± {1.96 * errors.std(ddof=1) / np.sqrt(len(errors)):.2f});"
        f" {np.mean([each.covered for each in estimates]):.1%} of the 95% intervals contain the truth;"
        f" permuted labels: {at_random} better than a random order, {at_all} better than any baseline"
    )


def main() -> None:
    """Print the figures after every ten draws."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first draw, to split draws among processes"
    )
    arguments = parser.parse_args()
    warm_up()
    console, estimates = Console(), []
    for number in track(range(arguments.first, arguments.first + arguments.draws), "draws", transient=True):
        estimates.append(estimate_draw(number, arguments.queries))
        if len(estimates) > 1 and len(estimates) % 10 == 0:
            console.print(report(estimates))
    console.print(report(estimates))


if __name__ == "__main__":
    main()
