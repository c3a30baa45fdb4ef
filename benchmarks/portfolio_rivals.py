"""Rivals of an automatic training: a study, FLAML, and other ways to fit its best candidates."""

import importlib.util
import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from core.autotrain import AutoSpec, Candidate, Trials, Tried
from core.data import RankingDataset
from core.scorers import read_model
from core.studies import search_space
from core.studies.sampling import PastTrial, TrialPosition, sample
from core.types import Float64Array

_TRIALS = 50
_SEEDS = 5
_SPACE = search_space(
    {
        "/hyperparameters/num_leaves": {"type": "int", "low": 2, "high": 63, "log": True},
        "/hyperparameters/learning_rate": {"type": "float", "low": 0.02, "high": 0.3, "log": True},
        "/hyperparameters/min_data_in_leaf": {"type": "int", "low": 2, "high": 200, "log": True},
        "/hyperparameters/feature_fraction": {"type": "float", "low": 0.3, "high": 1.0},
        "/hyperparameters/lambda_l2": {"type": "float", "low": 1e-3, "high": 100.0, "log": True},
    }
)
_BASE = {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 200}}


def fitted_scores(
    trials: Trials, candidate: Candidate, iterations: int, test: RankingDataset
) -> Float64Array:
    """Return the test scores of a candidate that is fitted on all queries of the trials."""
    return read_model(trials.fit(candidate, iterations).content).score(test.features)


def study_scores(trials: Trials, test: RankingDataset) -> Float64Array:
    """Return the test scores of the best of 50 trials of trees by TPE, judged by the same folds."""
    past: list[PastTrial] = []
    found: list[tuple[float, Candidate, int]] = []
    for number in range(_TRIALS):
        position = TrialPosition(trials.spec.seed, number, number, higher_is_better=True)
        parameters = sample("tpe", _SPACE, _BASE, position, past)
        values = _SPACE.applied(_BASE, parameters)
        candidate = Candidate(f"trial {number}", 2, values["loss"], hyperparameters=values["hyperparameters"])
        folds = trials.held_out.n_folds
        tried = trials.try_candidate(0, candidate, folds, time_left=lambda: np.inf, is_first=True)
        past.append(PastTrial(number, parameters, tried.mean))
        found.append((tried.mean, candidate, tried.iterations))
    _, candidate, iterations = max(found, key=lambda each: each[0])
    return fitted_scores(trials, candidate, iterations, test)


def flaml_scores(
    spec: AutoSpec, training: RankingDataset, test: RankingDataset, seconds: float
) -> Float64Array | None:
    """Return the test scores of FLAML's search over LightGBM and XGBoost; None where it has no model.

    FLAML has no model if it is not installed, or if all its trainings fail, as on queries of one document.
    """
    if importlib.util.find_spec("flaml") is None:
        return None
    from flaml import AutoML  # type: ignore[import-not-found]

    search = AutoML()
    search.fit(
        np.asarray(training.features),
        training.labels.astype(int),
        groups=np.diff(training.query_boundaries).tolist(),
        task="rank",
        metric=spec.metric,
        estimator_list=["lgbm", "xgboost"],
        time_budget=max(seconds, 10.0),
        eval_method="cv",
        n_splits=5,
        n_jobs=1,
        seed=spec.seed,
        verbose=0,
    )
    if search.model is None:
        return None
    scores: Float64Array = np.asarray(search.predict(np.asarray(test.features)), np.float64)
    return scores


def other_fits(
    spec: AutoSpec, training: RankingDataset, test: RankingDataset, tried: list[Tried]
) -> Iterator[tuple[str, Float64Array]]:
    """Yield the test scores of the best candidate of each kind, for each way of fitting.

    The ways: the average of the folds' models, one fit on all queries, and the average of fits by five seeds.
    """
    trials_by_seed = [
        Trials(replace(spec, seed=spec.seed + more), training, **_ONE_THREAD) for more in range(_SEEDS)
    ]
    held_out = trials_by_seed[0].held_out
    folds = itertools.islice(held_out.folds(), held_out.n_folds)
    trials_by_fold = [Trials(spec, training.select_queries(fold.training), **_ONE_THREAD) for fold in folds]
    for kind, best in _best_of_kinds(tried):
        yield f"{kind}, folds' models averaged", _average_scores(trials_by_fold, best, test)
        yield f"{kind}, one fit", fitted_scores(trials_by_seed[0], best.candidate, best.iterations, test)
        if kind != "linear":
            yield f"{kind}, five seeds averaged", _average_scores(trials_by_seed, best, test)


def _average_scores(many_trials: list[Trials], best: Tried, test: RankingDataset) -> Float64Array:
    scores = [fitted_scores(trials, best.candidate, best.iterations, test) for trials in many_trials]
    average: Float64Array = np.mean([each / (each.std() or 1.0) for each in scores], axis=0)
    return average


def _best_of_kinds(tried: list[Tried]) -> Iterator[tuple[str, Tried]]:
    for kind in ("linear", "trees", "network"):
        of_kind = [each for each in tried if _kind(each.candidate) == kind]
        if of_kind:
            yield kind, max(of_kind, key=lambda each: each.mean)


def _kind(candidate: Candidate) -> str:
    if candidate.scorer is None:
        return "trees"
    return "network" if candidate.needs_jax else "linear"


_ONE_THREAD: dict[str, Any] = {"threads": 1, "clock": lambda: 0.0}
