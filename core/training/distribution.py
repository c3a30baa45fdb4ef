"""Distributed trainings: options, trainings that cannot be distributed, and shards of queries."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from core.errors import InputProblem, InvalidInput
from core.scorers import Trees
from core.stored import entry, read_entries
from core.training.hyperparameters import Hyperparameters
from core.training.spec import TrainingSpec
from core.types import Int64Array

# A training with one rank is not distributed.
MIN_RANKS = 2
MAX_RANKS = 64
DEFAULT_MAX_RANKS = 8
MAX_THREADS = 256

_NEEDS_ALL_DOCUMENTS = "and each rank has only the documents of its queries"


@dataclass(frozen=True)
class Ranks:
    """Bounds of the number of ranks.

    Attributes:
        at_least: Minimum number of ranks to start or continue a training, from 2 to 64.
        at_most: Maximum number of ranks, from `at_least` to 64.

    Raises:
        InvalidInput: With a pointer for each number out of bounds.
    """

    at_least: int = MIN_RANKS
    at_most: int = DEFAULT_MAX_RANKS

    def __post_init__(self) -> None:
        problems = [
            problem
            for name, number in vars(self).items()
            for problem in _number_problems(f"/{name}", number, MIN_RANKS, MAX_RANKS)
        ]
        if problems:
            raise InvalidInput(*problems)
        if self.at_most < self.at_least:
            raise InvalidInput.at("/at_most", f"must be at least {self.at_least}, the value of at_least")


@dataclass(frozen=True)
class Distribution:
    """The number of ranks of a distributed training, which does not change the model.

    Attributes:
        threads_per_rank: Threads of each rank, from 1 to 256.

    Raises:
        InvalidInput: With a pointer for each number out of bounds.
    """

    ranks: Ranks = entry(default_factory=Ranks, read=partial(read_entries, Ranks, exact=True))
    threads_per_rank: int = 1

    def __post_init__(self) -> None:
        if problems := list(_number_problems("/threads_per_rank", self.threads_per_rank, 1, MAX_THREADS)):
            raise InvalidInput(*problems)


def distribution_problems(spec: TrainingSpec, *, has_folds: bool) -> list[InputProblem]:
    """Return a problem for each part of a specification that several ranks cannot train reproducibly.

    Returns:
        Problems with pointers into the JSON of the job, such as `/hyperparameters/boosting`; empty where the
        training can be distributed.
    """
    if not isinstance(spec.scorer, Trees):
        return [
            InputProblem(
                "/distribution", f"applies to trees only; a {spec.scorer.kind} is trained by one process"
            )
        ]
    problems = []
    if spec.corrects_clicks:
        problems.append(InputProblem("/clicks", "cannot be distributed; train in one process"))
    problems += [
        InputProblem(f"/hyperparameters/{name}", f"cannot be distributed: {reason}")
        for name, reason in _hyperparameter_problems(spec.hyperparameters)
    ]
    if spec.diagnostics is not None:
        problems.append(
            InputProblem(
                "/diagnostics", "cannot be distributed: a single process needs all queries; leave it out"
            )
        )
    if has_folds:
        problems.append(
            InputProblem(
                "/validation",
                "cross-validation cannot be distributed; hold out a part of the queries or another dataset",
            )
        )
    return problems


def check_distribution(spec: TrainingSpec, *, has_folds: bool) -> None:
    """Raise the problems that `distribution_problems` returns, if any.

    Raises:
        InvalidInput: With a pointer for each problem.
    """
    if problems := distribution_problems(spec, has_folds=has_folds):
        raise InvalidInput(*problems)


def _hyperparameter_problems(values: Hyperparameters) -> Iterator[tuple[str, str]]:
    """Yield names and reasons of hyperparameters that several ranks cannot train with."""
    if values.boosting != "gbdt":
        yield "boosting", f"{values.boosting} cannot resume from a checkpoint when a rank is lost; use gbdt"
    if values.data_sample_strategy == "goss":
        yield (
            "data_sample_strategy",
            f"goss needs the largest gradients of all documents, {_NEEDS_ALL_DOCUMENTS}; use query_fraction",
        )
    if values.bagging_freq > 0 and values.bagging_fraction < 1.0:
        yield (
            "bagging_fraction",
            (
                "each rank samples its own documents, so that the model would depend on the number of ranks;"
                " use query_fraction"
            ),
        )
    if values.use_quantized_grad:
        yield (
            "use_quantized_grad",
            "distributed training rounds gradients to a common grid itself; leave it out",
        )
    if values.linear_tree:
        yield "linear_tree", f"a leaf's linear model is fitted to all its documents, {_NEEDS_ALL_DOCUMENTS}"
    if values.extra_trees:
        yield (
            "extra_trees",
            (
                "each rank draws thresholds of the features that it searches, so that the model would depend"
                " on the number of ranks; leave it out"
            ),
        )
    if values.interaction_constraints:
        yield (
            "interaction_constraints",
            "LightGBM crashes with interaction constraints on several ranks; train in one process",
        )
    if values.monotone_constraints_method != "basic":
        yield (
            "monotone_constraints_method",
            (
                f"{values.monotone_constraints_method} needs the histograms of all features, and each rank"
                " has only a part; use basic"
            ),
        )


def _number_problems(pointer: str, value: Any, least: int, most: int) -> Iterator[InputProblem]:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:
        yield InputProblem(pointer, f"must be a whole number from {least} to {most}")


def shards(query_boundaries: Int64Array, n_ranks: int) -> Int64Array:
    """Cut queries into ranges of about equal cost; range r is `cuts[r]:cuts[r + 1]`.

    The cost of a query is its number of documents: most of the time is for histograms of trees, and grows
    with the documents. Pairs take a smaller part of the time, see `make bench-training`.

    Args:
        query_boundaries: (n_queries + 1,) offsets of the documents.
        n_ranks: Number of ranges, each with at least one query.

    Returns:
        (n_ranks + 1,) positions of queries, rising from 0 to n_queries.

    Raises:
        InvalidInput: There are fewer queries than ranks.

    Example:
        >>> shards(np.array([0, 90, 100, 110, 120]), 2).tolist()
        [0, 1, 4]
    """
    n_queries = len(query_boundaries) - 1
    if n_queries < n_ranks:
        raise InvalidInput.at(
            "/distribution/ranks",
            f"each of {n_ranks} ranks needs at least one query, but there are only {n_queries}",
        )
    ideal = query_boundaries[-1] * np.arange(n_ranks + 1) / n_ranks
    after = np.searchsorted(query_boundaries, ideal)
    before = np.maximum(after - 1, 0)
    is_before_nearer = ideal - query_boundaries[before] < query_boundaries[after] - ideal
    cuts = np.where(is_before_nearer, before, after)
    cuts[-1] = n_queries  # includes trailing queries without documents
    # Give each range a query: move cuts right as far as needed, then left.
    ranks = np.arange(n_ranks + 1)
    cuts = np.maximum.accumulate(np.maximum(cuts, ranks) - ranks) + ranks
    cuts = np.minimum(cuts, n_queries - ranks[::-1])
    return np.asarray(cuts, np.int64)
