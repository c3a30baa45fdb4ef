"""Sample the parameters of the next trial.

Optuna samples without its storage: each call builds an in-memory study from our database rows. It is seeded
with the study's seed and the trial's number, so that repeated calls with the same trials return the same
parameters.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from core.errors import InvalidInput
from core.studies.search_space import Dimension, SearchSpace
from core.studies.study import resolved

if TYPE_CHECKING:
    import optuna

Json = dict[str, Any]
# Random trials before TPE is used, as in Optuna's default.
STARTUP_TRIALS = 10
# Draws of one trial before its parameters are chosen among the combinations that no other trial has.
_DRAWS = 10


@dataclass(frozen=True)
class PastTrial:
    """An earlier trial, an input of the sampler.

    Attributes:
        parameters: Values keyed by JSON pointer.
        value: The objective, estimated for pruned trials; None for running and failed trials.
        is_running: Whether the trial runs; the sampler avoids its parameters.
    """

    number: int
    parameters: Mapping[str, Any]
    value: float | None
    is_running: bool = False


@dataclass(frozen=True)
class TrialPosition:
    """The position of a trial in its study.

    Attributes:
        index: Position of the trial among the sampled trials, from 0.
        others: Parameters of all other trials that have parameters, which are not repeated.
    """

    seed: int
    number: int
    index: int
    higher_is_better: bool
    others: Sequence[Mapping[str, Any]] = ()


def trial_seed(seed: int, number: int) -> int:
    """Return the seed of one trial, below 2^32."""
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def sample(
    sampler: str, space: SearchSpace, base: Json, position: TrialPosition, past: Sequence[PastTrial]
) -> Json:
    """Return the parameters of a trial, keyed by JSON pointer; new parameters if any untried ones are left.

    Args:
        sampler: `tpe`, `random`, `grid` or `qmc`.
        past: Ended and running trials; only `tpe` uses them.
    """
    if sampler == "grid":
        return _sample_grid(space, base, position)
    if sampler == "qmc":
        draws = _sobol_points(space, base, position)
    else:
        draws = _optuna_draws(sampler, space, base, position, past)
    return _first_untried(
        chain(islice(draws, _DRAWS), _shuffled_combinations(space, base, position)), position.others
    )


def _first_untried(candidates: Iterator[Json], others: Sequence[Mapping[str, Any]]) -> Json:
    """Return the first of the candidates that no other trial has; if there is none, the first one."""
    own = next(candidates)
    return next((each for each in chain([own], candidates) if each not in others), own)


def grid_without_default(space: SearchSpace, base: Json, default: Mapping[str, Any]) -> list[Json]:
    """Return the combinations of a grid without the default, which is trial 0.

    Raises:
        InvalidInput: A parameter has no grid, or there are too many combinations.
    """
    return [combination for combination in space.grid(base) if combination != default]


def sampler_limit(sampler: str, space: SearchSpace, base: Json) -> int | None:
    """Return the number of trials that a sampler can suggest without repetition, None for no limit.

    Raises:
        InvalidInput: The sampler is `grid`, and the grid is invalid; see `grid_without_default`.
    """
    try:
        return len(grid_without_default(space, base, space.values_in(base, resolved(base))))
    except InvalidInput:
        if sampler == "grid":
            raise
        return None


def combinations_taken(
    space: SearchSpace, base: Json, by_hand: Sequence[Mapping[str, Any]], sampled: Sequence[Mapping[str, Any]]
) -> int:
    """Return the number of combinations of a grid that only trials added by hand have.

    Args:
        by_hand: Parameters of the trials that were added by hand.
        sampled: Parameters of the trials that the sampler suggested.
    """
    combinations = grid_without_default(space, base, space.values_in(base, resolved(base)))
    return sum(each in by_hand and each not in sampled for each in combinations)


def _sample_grid(space: SearchSpace, base: Json, position: TrialPosition) -> Json:
    combinations = grid_without_default(space, base, space.values_in(base, resolved(base)))
    order = np.random.default_rng(position.seed).permutation(len(combinations)).tolist()
    # A trial added by hand may have the combination of this index; then take that of another index.
    indices = (order[position.index % len(combinations)], *order)
    return _first_untried((combinations[index] for index in indices), position.others)


def _shuffled_combinations(space: SearchSpace, base: Json, position: TrialPosition) -> Iterator[Json]:
    """Yield all combinations in a random order; none where a parameter has too many values."""
    try:
        combinations = space.grid(base)
    except InvalidInput:
        return
    order = np.random.default_rng(trial_seed(position.seed, position.number)).permutation(len(combinations))
    yield from (combinations[index] for index in order.tolist())


def _sobol_points(space: SearchSpace, base: Json, position: TrialPosition) -> Iterator[Json]:
    """Yield the parameters from the trial's index on in a scrambled Sobol' sequence (Owen 1998)."""
    from scipy.stats import qmc

    points = qmc.Sobol(len(space.dimensions), scramble=True, rng=np.random.default_rng(position.seed))
    if position.index:
        points.fast_forward(position.index)
    while True:
        with warnings.catch_warnings():
            # SciPy warns if the number of points is not a power of two; here one point is drawn at a time.
            warnings.simplefilter("ignore", UserWarning)
            point = points.random(1)[0]
        shares = dict(zip((each.pointer for each in space.dimensions), map(float, point), strict=True))
        yield space.choose(base, partial(_quantile, shares))


def _quantile(shares: Mapping[str, float], dimension: Dimension) -> Any:
    return dimension.quantile(shares[dimension.pointer])


def _optuna_draws(
    sampler: str, space: SearchSpace, base: Json, position: TrialPosition, past: Sequence[PastTrial]
) -> Iterator[Json]:
    """Yield draws of Optuna; each one is a running trial of the next, which TPE avoids."""
    study = study_of(space, past if sampler == "tpe" else (), position.higher_is_better)
    study.sampler = _sampler(sampler, trial_seed(position.seed, position.number))
    while True:
        trial = study.ask()
        yield space.choose(base, partial(_suggest, trial))


def study_of(space: SearchSpace, past: Sequence[PastTrial], higher_is_better: bool) -> "optuna.Study":
    """Return an in-memory study of Optuna with the trials that are within the search space."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize" if higher_is_better else "minimize")
    distributions = {each.pointer: _distribution(each) for each in space.dimensions}
    by_pointer = {each.pointer: each for each in space.dimensions}
    for trial in past:
        if not all(by_pointer[name].contains(value) for name, value in trial.parameters.items()):
            continue  # the default may be outside the space, where TPE has no density
        if trial.value is None and not trial.is_running:
            continue
        state = optuna.trial.TrialState.RUNNING if trial.is_running else optuna.trial.TrialState.COMPLETE
        study.add_trial(
            optuna.trial.create_trial(
                state=state,
                value=None if trial.is_running else trial.value,
                params={
                    name: _to_optuna_value(by_pointer[name], value)
                    for name, value in trial.parameters.items()
                },
                distributions={name: distributions[name] for name in trial.parameters},
            )
        )
    return study


def _sampler(name: str, seed: int) -> "optuna.samplers.BaseSampler":
    import optuna

    if name == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return optuna.samplers.TPESampler(
            seed=seed,
            n_startup_trials=STARTUP_TRIALS,
            multivariate=True,
            group=True,
            constant_liar=True,
        )


def _distribution(dimension: Dimension) -> "optuna.distributions.BaseDistribution":
    """Return the distribution of a parameter in Optuna.

    Optuna gets the positions of choices, as it accepts no other JSON than scalars. It gets the positions of
    numbers with a step, too: by its rounding, the largest value may not be a whole number of steps.
    """
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if dimension.type == "choice":
        return CategoricalDistribution(range(len(dimension.choices)))
    if dimension.step is not None:
        return IntDistribution(0, dimension.steps)
    if dimension.type == "int":
        return IntDistribution(round(dimension.low), round(dimension.high), log=dimension.log)
    return FloatDistribution(dimension.low, dimension.high, log=dimension.log)


def _to_optuna_value(dimension: Dimension, value: Any) -> Any:
    if dimension.type == "choice":
        return dimension.choices.index(value)
    if dimension.step is not None:
        return round((value - dimension.low) / dimension.step)
    return int(value) if dimension.type == "int" else float(value)


def _suggest(trial: "optuna.Trial", dimension: Dimension) -> Any:
    name, low, high = dimension.pointer, dimension.low, dimension.high
    if dimension.type == "choice":
        return dimension.choices[trial.suggest_categorical(name, range(len(dimension.choices)))]
    if dimension.step is not None:
        return dimension.value(trial.suggest_int(name, 0, dimension.steps))
    if dimension.type == "int":
        return trial.suggest_int(name, round(low), round(high), log=dimension.log)
    return trial.suggest_float(name, low, high, log=dimension.log)


METHOD: Literal["ped-anova"] = "ped-anova"
# Minimum number of trials for a distribution.
MIN_TRIALS = 5


def importances(space: SearchSpace, past: Sequence[PastTrial], *, higher_is_better: bool) -> dict[str, float]:
    """Return the importance of parameters by pointer, greatest first; they add up to 1, or all are 0.

    PED-ANOVA (Watanabe et al. 2023) compares the distributions of a parameter among the best trials and among
    all trials. For a conditional parameter, only trials that have it count. Parameters of fewer than
    `MIN_TRIALS` trials are left out.

    Args:
        past: Trials that have a value.
    """
    import optuna

    valued = [trial for trial in past if trial.value is not None]
    importance = {}
    for dimension in space.dimensions:
        pointer = dimension.pointer
        with_parameter = [
            PastTrial(trial.number, {pointer: trial.parameters[pointer]}, trial.value)
            for trial in valued
            if pointer in trial.parameters
        ]
        if len(with_parameter) < MIN_TRIALS:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            study = study_of(space, with_parameter, higher_is_better)
            evaluator = optuna.importance.PedAnovaImportanceEvaluator()
            importance[pointer] = evaluator.evaluate(study, params=[pointer])[pointer]
    total = sum(importance.values())
    ordered = sorted(importance.items(), key=lambda item: -item[1])
    return {pointer: value / total if total else 0.0 for pointer, value in ordered}
