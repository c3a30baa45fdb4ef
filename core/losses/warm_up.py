"""Compile every kernel of the losses, or load it from the disk cache."""

from typing import Any

import numpy as np

from core.kernel_compiler import compile_for_kernels
from core.losses import LOSSES, make_loss
from core.losses.layout import lay_out, make_scratch
from core.losses.pairwise import PairwiseObjective, visit_pairs
from core.losses.plan import PairwisePlan
from core.losses.smooth_pairs import LongQueries

_SCORES = np.array([0.3, 0.2, 0.1])
_LABELS = np.array([0.0, 2.0, 1.0], np.float32)
_BOUNDARIES = np.array([0, 3], np.int64)


def layout() -> None:
    """Compile the layout of a query of a pairwise loss."""
    compile_for_kernels(lay_out, 0, _plan(), _SCORES, np.uint64(0), _scratch())


def pairs() -> None:
    """Compile the loops over the pairs of a query."""
    compile_for_kernels(visit_pairs, 0, _plan(), 0, 0, _scratch(), True, False)


def pairwise() -> None:
    """Call each pairwise loss on a tiny query."""
    _call_losses(pairwise=True)


def long_queries() -> None:
    """Sum the pairs of a tiny query by the kernels for long queries, without and with the loss."""
    plan = _plan()
    gradient, hessian = (np.empty(len(_LABELS), np.float32) for _ in range(2))
    for value in (np.empty(0), np.empty(1)):
        LongQueries(plan).fill(np.zeros(1, np.int64), _SCORES, gradient, hessian, value)


def other_losses() -> None:
    """Call each loss that is not pairwise on a tiny query."""
    _call_losses(pairwise=False)


def _scratch() -> Any:
    return compile_for_kernels(make_scratch, 0, 1)


def _plan() -> PairwisePlan:
    objective = make_loss("lambdarank").prepare(_LABELS, _BOUNDARIES)
    if not isinstance(objective, PairwiseObjective):
        raise TypeError("lambdarank is not a pairwise loss")
    return objective.plan


def _call_losses(*, pairwise: bool) -> None:
    for name in LOSSES:
        objective = make_loss(name).prepare(_LABELS, _BOUNDARIES)
        if isinstance(objective, PairwiseObjective) == pairwise:
            objective(_SCORES, 0)
            objective.with_value(_SCORES, 0)
            objective.terms(_SCORES, 0)
