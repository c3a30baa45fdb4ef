"""Automatic training as a whole."""

import itertools

import numpy as np
import pytest

from core.autotrain import AutoSpec, auto_train, portfolio
from core.data import synthetic_dataset
from core.errors import InvalidInput
from core.scorers import read_model

_DATA = synthetic_dataset(40, seed=1, documents_per_query=10, n_features=6, noise=0.5)
_FEW = portfolio()[:3]


def test_the_model_is_the_weighted_sum_of_its_members() -> None:
    """The file scores as the members do, and the same arguments give the same bytes."""
    found = auto_train(AutoSpec(prefer="best", seconds=1_000.0), _DATA, candidates=_FEW)
    again = auto_train(AutoSpec(prefer="best", seconds=1_000.0), _DATA, candidates=_FEW, threads=2)
    assert found.content == again.content
    scores = read_model(found.content).score(_DATA.features)
    assert np.isfinite(scores).all()
    assert {name for name, _ in found.members} <= {candidate.name for candidate in _FEW}


def test_a_limit_without_room_for_one_candidate_is_told() -> None:
    """A clock that jumps beyond the limit after each look leaves the first candidate incomplete."""
    ticks = itertools.count(0.0, 100.0)
    with pytest.raises(InvalidInput, match="not enough"):
        auto_train(AutoSpec(seconds=150.0), _DATA, candidates=_FEW, clock=lambda: next(ticks))


def test_candidates_after_the_limit_are_listed() -> None:
    """The clock passes the limit after the first candidate: the others have the reason."""
    now = [0.0]
    found = auto_train(
        AutoSpec(seconds=100.0),
        _DATA,
        candidates=_FEW,
        on_progress=lambda name, done, total: now.__setitem__(0, 95.0 * done),
        clock=lambda: now[0],
    )
    assert [each.candidate.name for each in found.tried if each.status == "complete"] == [_FEW[0].name]
