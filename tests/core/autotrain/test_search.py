"""Automatic training as a whole."""

import itertools
from dataclasses import replace

import numpy as np

from core.autotrain import AutoSpec, Candidate, Trials, auto_train, portfolio
from core.autotrain.conclusion import DEFAULT_TREES
from core.data import synthetic_dataset
from core.scorers import read_model

_DATA = synthetic_dataset(40, seed=1, documents_per_query=10, n_features=6, noise=0.5)
_FEW_TREES = {"num_iterations": 24, "num_leaves": 7, "min_data_in_leaf": 5}


def _short(candidate: Candidate) -> Candidate:
    """Return a candidate of the portfolio with fewer epochs, or fewer and smaller trees."""
    if candidate.scorer:
        return replace(candidate, scorer={**candidate.scorer, "epochs": 12})
    return replace(candidate, hyperparameters=_FEW_TREES)


_FEW = [_short(candidate) for candidate in portfolio()[:3]]


def test_the_model_is_the_weighted_sum_of_its_members() -> None:
    """The file scores as the members do, and the same arguments give the same bytes."""
    found = auto_train(AutoSpec(prefer="best", budget_seconds=1_000.0), _DATA, candidates=_FEW)
    again = auto_train(AutoSpec(prefer="best", budget_seconds=1_000.0), _DATA, candidates=_FEW, threads=2)
    assert found.content == again.content
    trials = Trials(AutoSpec(), _DATA, threads=1, clock=itertools.count().__next__)
    expected = np.zeros(_DATA.n_documents)
    members = found.selected.members
    for place, (tried, weight) in zip(found.selected.choice.members, members, strict=True):
        model = read_model(trials.fit(tried.candidate, tried.iterations).content)
        expected += weight / found.selected.scales[place] * model.score(_DATA.features)
    scores = read_model(found.content).score(_DATA.features)
    np.testing.assert_allclose(scores, expected if len(members) > 1 else scores, rtol=1e-12)


def test_a_budget_without_room_for_one_candidate_ends_its_first_training() -> None:
    """A clock that runs far ahead ends the first training early, and the others are not tried."""
    ticks = itertools.count(0.0, 100.0)
    found = auto_train(AutoSpec(budget_seconds=150.0), _DATA, candidates=_FEW, clock=lambda: next(ticks))
    assert [(each.candidate, each.folds) for each in found.tried] == [(_FEW[0], 1)]
    assert {each.reason for each in found.not_tried} == {"the time budget was used up"}


def test_candidates_after_the_budget_are_listed() -> None:
    """The clock passes the budget after the first candidate: the others have the reason."""
    now = [0.0]
    found = auto_train(
        AutoSpec(budget_seconds=100.0),
        _DATA,
        candidates=_FEW,
        on_progress=lambda _, done, __: now.__setitem__(0, 95.0 * done),
        clock=lambda: now[0],
    )
    assert [each.candidate.name for each in found.tried if each.status == "complete"] == [_FEW[0].name]
    assert [each.candidate for each in found.not_tried] == list(_FEW[1:])


def test_the_conclusion_names_what_it_is_compared_with() -> None:
    """LightGBM's defaults, the best single feature and a random order, each with a value and a p-value."""
    listed = [_short(each) for each in portfolio() if each.name in ("linear by lambdarank", DEFAULT_TREES)]
    found = auto_train(AutoSpec(budget_seconds=1_000.0), _DATA, candidates=listed)
    names = [rival.name for rival in found.conclusion.baselines]
    assert [name.partition(" (")[0] for name in names[-2:]] == ["random order", "best single feature"]
    assert (DEFAULT_TREES in names) == (found.selected.name != DEFAULT_TREES)
    assert "ndcg@10" in found.conclusion.sentence
    assert all(f"{rival.value:.4f}" in found.conclusion.sentence for rival in found.conclusion.baselines)
