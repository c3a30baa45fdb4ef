"""Automatic training as a whole."""

import itertools
from dataclasses import replace
from unittest.mock import patch

import lightgbm
import numpy as np
import pytest
from scipy import stats

from core.autotrain import AutoSpec, Candidate, Trials, auto_train, portfolio
from core.autotrain.conclusion import DEFAULT_TREES, conclude
from core.autotrain.held_out import HeldOut
from core.autotrain.trials import FoldScores, NothingKept
from core.data import synthetic_dataset
from core.errors import InvalidInput
from core.metrics import DEFAULT
from core.scorers import read_model
from core.training import train
from core.training.binning import SharedBins
from core.training.boosting import bin_features

_DATA = synthetic_dataset(40, seed=1, documents_per_query=10, n_features=6, noise=0.5)
_FEW_TREES = {"num_iterations": 24, "num_leaves": 7, "min_data_in_leaf": 5}


def _short(candidate: Candidate) -> Candidate:
    """Return a candidate of the portfolio with fewer epochs, or fewer and smaller trees."""
    if candidate.scorer:
        return replace(candidate, scorer={**candidate.scorer, "epochs": 12})
    return replace(candidate, hyperparameters=_FEW_TREES)


_FEW = [_short(candidate) for candidate in portfolio()[:3]]


def test_the_model_is_the_weighted_sum_of_its_members() -> None:
    """A file of several members adds up their weighted scores; one and two threads give the same bytes."""
    found = auto_train(AutoSpec(prefer="best", budget_seconds=1_000.0), _DATA, candidates=_FEW)
    again = auto_train(AutoSpec(prefer="best", budget_seconds=1_000.0), _DATA, candidates=_FEW, threads=2)
    assert found.content == again.content
    trials = Trials(AutoSpec(), _DATA, threads=1, clock=itertools.count().__next__)
    expected = np.zeros(_DATA.n_documents)
    members = found.selected.members
    assert len(members) > 1
    for place, (tried, weight) in zip(found.selected.choice.members, members, strict=True):
        model = read_model(trials.fit(tried.candidate, tried.iterations).content)
        expected += weight / found.selected.selection.scales[place] * model.score(_DATA.features)
    scores = read_model(found.content).score(_DATA.features)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_trees_without_a_split_are_measured_as_constant() -> None:
    """On very few documents, LightGBM finds no split; its scores are equal, and another model is chosen."""
    few = synthetic_dataset(8, seed=1, documents_per_query=4, n_features=6, noise=0.1)
    found = auto_train(AutoSpec(budget_seconds=1_000.0), few, candidates=portfolio()[:2])
    trees, linear = found.tried
    assert (trees.status, linear.status) == ("complete", "complete")
    assert np.nanmax(trees.scores) == np.nanmin(trees.scores)
    assert found.selected.name == "linear by lambdarank"


def test_scores_after_the_last_split_are_those_of_the_whole_model() -> None:
    """A fold without a further split between two measured iterations has the scores of all its trees."""
    bound = {"min_gain_to_split": 6.0, "num_iterations": 300, "min_data_in_leaf": 5}
    candidate = replace(portfolio()[0], hyperparameters=bound)
    trials = Trials(AutoSpec(), _DATA, threads=1, clock=itertools.count().__next__)
    spec, kept = trials.training(candidate), _KeptInMemory()
    tried = trials.try_candidate(0, candidate, 3, time_left=lambda: np.inf, kept=kept)
    assert tried.iterations % spec.metric_interval == 0
    bins, trees = bin_features(spec, _DATA), []
    for fold in itertools.islice(trials.held_out.folds(), 3):
        scores = kept.folds[fold.number]
        shared = SharedBins(bins, trials.held_out.rows(fold.training))
        whole = train(spec, _DATA.select_queries(fold.training), bins=shared)
        trees.append(whole.best_iteration)
        assert whole.best_iteration == scores.iterations[-1] < spec.iterations
        held_out = _DATA.select_queries(fold.held_out)
        np.testing.assert_allclose(scores.scores[-1], read_model(whole.content).score(held_out.features))
    assert any(count % spec.metric_interval for count in trees)


def test_the_iterations_of_a_single_fold_are_the_trees_of_its_model() -> None:
    """A best tree between two measured iterations is counted as it is in the model file."""
    bound = {"min_gain_to_split": 6.0, "num_iterations": 300, "min_data_in_leaf": 5}
    candidate = replace(portfolio()[0], hyperparameters=bound)
    between = False
    for seed in range(1, 9):
        data = synthetic_dataset(40, seed=seed, documents_per_query=10, n_features=6, noise=0.5)
        trials = Trials(AutoSpec(), data, threads=1, clock=itertools.repeat(0.0).__next__)
        tried = trials.try_candidate(0, candidate, 1, time_left=lambda: np.inf)
        model = lightgbm.Booster(model_str=tried.content.decode())
        assert tried.iterations == model.num_trees()
        between = between or tried.iterations % trials.training(candidate).metric_interval != 0
    assert between


def test_later_folds_are_trained_for_twice_the_best_iteration() -> None:
    """Folds of the first repetition have all trees; later folds have at most twice the best number so far."""
    noisy = {"num_iterations": 240, "num_leaves": 15, "min_data_in_leaf": 5, "learning_rate": 0.3}
    candidate = replace(portfolio()[0], hyperparameters=noisy)
    trials = Trials(AutoSpec(), _DATA, threads=1, clock=itertools.count().__next__)
    kept, n_folds = _KeptInMemory(), trials.held_out.n_folds
    tried = trials.try_candidate(0, candidate, 2 * n_folds, time_left=lambda: np.inf, kept=kept)
    lengths = [int(kept.folds[fold].iterations[-1]) for fold in range(2 * n_folds)]
    best = trials.try_candidate(0, candidate, n_folds, time_left=lambda: np.inf).iterations
    assert lengths[:n_folds] == [240] * n_folds
    assert lengths[n_folds] == 2 * best < 240
    assert lengths == sorted(lengths, reverse=True)
    assert tried.iterations <= lengths[-1]
    stumps = replace(candidate, complexity=1)
    trials.try_candidate(0, stumps, 2 * n_folds, time_left=lambda: np.inf, kept=kept)
    assert {int(scores.iterations[-1]) for scores in kept.folds.values()} == {240}
    repetitions, documents = tried.scores.shape
    assert np.count_nonzero(~np.isnan(tried.scores)) == 2 * documents < repetitions * documents


class _KeptInMemory(NothingKept):
    """Keeps the scores of the folds of one candidate."""

    def __init__(self) -> None:
        self.folds: dict[int, FoldScores] = {}

    def keep(self, candidate: int, fold: int, scores: FoldScores) -> None:
        """Keep the scores of a fold."""
        self.folds[fold] = scores


@pytest.mark.parametrize(
    ("name", "sign", "is_corrected"),
    [
        ("random order", 1.0, True),
        ("best single feature (bm25)", -1.0, True),
        ("best single feature (bm25)", 1.0, False),
        (DEFAULT_TREES, 1.0, False),
    ],
)
def test_shared_training_queries_weaken_the_evidence(name: str, sign: float, is_corrected: bool) -> None:
    """The p-value of a corrected test is that of a t-test with 2.25 times the variance, on five folds."""
    held_out = HeldOut(_DATA, "ndcg@10", DEFAULT, seed=0)
    assert [held_out.variance_factor(folds) for folds in (1, 2, 5, 15)] == [1.0, 1.5, 2.25, 2.25]
    values = np.random.default_rng(0).uniform(0.5, 0.7, _DATA.n_queries)
    differences = sign * np.random.default_rng(1).normal(0.02, 0.06, _DATA.n_queries)
    independent, dependent = (
        conclude(
            "m",
            "ndcg@10",
            values,
            [(name, values - differences)],
            held_out,
            "held-out",
            variance_factor=factor,
        ).baselines[0]
        for factor in (1.0, 2.25)
    )
    assert independent.verdict == ("better" if sign > 0.0 else "worse")
    if is_corrected:
        t = abs(differences.mean()) / (differences.std(ddof=1) / np.sqrt(len(differences))) / 1.5
        assert dependent.p_value == pytest.approx(2.0 * stats.t.sf(t, len(differences) - 1))
        assert dependent.verdict == "no evidence"
    else:
        assert dependent == independent


def test_a_candidate_that_is_worse_than_the_best_is_stopped() -> None:
    """Beside a perfect candidate, the trial ends after the first fold."""
    trials = Trials(AutoSpec(), _DATA, threads=1, clock=itertools.count().__next__)
    perfect = np.ones(_DATA.n_queries)
    tried = trials.try_candidate(0, _FEW[0], 5, time_left=lambda: np.inf, rivals=[perfect])
    assert (tried.status, tried.folds) == ("stopped", 1)


def test_candidates_that_cannot_be_trained_are_listed_with_the_reason() -> None:
    """A step size that is too high ends one candidate; if nothing is left, the error has the reasons."""
    linear = portfolio()[1]
    too_fast = {"kind": "linear", "optimizer": "sgd", "learning_rate": 100.0}
    diverging = replace(linear, name="diverging", loss={"name": "mse"}, scorer=too_fast)
    found = auto_train(AutoSpec(budget_seconds=1_000.0), _DATA, candidates=[diverging, linear])
    assert [each.candidate for each in found.tried] == [linear]
    assert [each.candidate for each in found.not_tried] == [diverging]
    assert "scores were not finite" in found.not_tried[0].reason
    with pytest.raises(InvalidInput, match=r"no candidate can be trained on these data: .*not finite"):
        auto_train(AutoSpec(budget_seconds=1_000.0), _DATA, candidates=[diverging])


def test_losses_have_the_gain_of_the_contract() -> None:
    """Labels above 30, which have no exponential gain, are trained on with a linear one."""
    dataset = synthetic_dataset(20, seed=1, documents_per_query=4, n_features=3)
    large = dataset.with_labels(dataset.labels * 25)
    named = portfolio(["trees by lambdarank", "trees by arp-loss2"])
    refused, allowed = (
        [
            Trials(AutoSpec(contract=contract), large, threads=1, clock=lambda: 0.0).refusal(one)
            for one in named
        ]
        for contract in ("lightgbm", {"gain": "linear"})
    )
    assert refused[0] is not None
    assert allowed == [None, None]


def test_queries_without_a_relevant_document_are_refused() -> None:
    """No metric can be measured on them."""
    irrelevant = replace(_DATA, labels=np.zeros_like(_DATA.labels))
    with pytest.raises(InvalidInput, match="ndcg@10 is undefined on every query: none has a relevant"):
        auto_train(AutoSpec(), irrelevant, candidates=_FEW)
    relevant = replace(_DATA, labels=np.ones_like(_DATA.labels))
    with pytest.raises(InvalidInput, match=r"auc is undefined on every query$"):
        auto_train(AutoSpec(metric="auc"), relevant, candidates=_FEW)
    with pytest.raises(InvalidInput, match="/dataset_id: has no query with different labels"):
        auto_train(AutoSpec(), relevant, candidates=_FEW)


def test_held_out_queries_without_a_value_are_refused() -> None:
    """The only fold that the budget allows lacks the only query on which the metric is defined."""
    few = synthetic_dataset(320, seed=1, documents_per_query=4, n_features=3)
    few = replace(few, labels=(np.arange(few.n_documents) == 0).astype(np.float32))
    spec = AutoSpec(budget_seconds=150.0, seed=2)
    first = next(iter(HeldOut(few, spec.metric, DEFAULT, spec.seed).folds()))
    assert 0 not in first.held_out
    ticks = itertools.count(0.0, 10.0)
    with pytest.raises(InvalidInput, match=r"/budget_seconds: ndcg@10 is undefined on every query that was"):
        auto_train(spec, few, candidates=_FEW[1:2], clock=lambda: next(ticks))


def test_a_budget_too_small_for_one_candidate_ends_its_first_training() -> None:
    """A clock that runs far ahead ends the first training early, and the others are not tried."""
    ticks = itertools.count(0.0, 100.0)
    found = auto_train(AutoSpec(budget_seconds=150.0), _DATA, candidates=_FEW, clock=lambda: next(ticks))
    assert [(each.candidate, each.folds) for each in found.tried] == [(_FEW[0], 1)]
    assert {each.reason for each in found.not_tried} == {"the time budget was used up"}


def test_with_a_budget_for_one_fold_the_sum_has_the_models_of_this_fold() -> None:
    """Each training gets a quarter of the budget, and none is repeated on all queries."""
    ticks = itertools.count(0.0, 1.0)
    found = auto_train(AutoSpec(budget_seconds=100.0), _DATA, candidates=_FEW, clock=lambda: next(ticks))
    assert [(each.candidate, each.folds, each.status) for each in found.tried] == [
        (each, 1, "complete") for each in _FEW
    ]
    fold = next(iter(HeldOut(_DATA, "ndcg@10", DEFAULT, AutoSpec.seed).folds()))
    held_out = _DATA.select_queries(fold.held_out)
    for each in found.tried:
        scores = each.scores[0][~np.isnan(each.scores[0])]
        np.testing.assert_allclose(read_model(each.content).score(held_out.features), scores, rtol=1e-5)
    members = found.selected.members
    content = found.selected.content([each.content for each, _ in members], _DATA.feature_names)
    assert found.content == content


def test_candidates_after_the_budget_are_listed() -> None:
    """The time budget ends after the first candidate, and the others are listed as not tried."""
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


def test_the_conclusion_names_the_baselines() -> None:
    """Baselines are LightGBM's defaults, unless selected, the best single feature and a random order."""
    listed = [_short(each) for each in portfolio() if each.name in ("linear by lambdarank", DEFAULT_TREES)]
    with patch("core.autotrain.search.conclude", wraps=conclude) as concluded:
        found = auto_train(AutoSpec(budget_seconds=1_000.0), _DATA, candidates=listed)
    assert [call.kwargs["variance_factor"] for call in concluded.call_args_list] == [2.25]  # five folds
    names = [rival.name for rival in found.conclusion.baselines]
    assert [name.partition(" (")[0] for name in names[-2:]] == ["random order", "best single feature"]
    assert (DEFAULT_TREES in names) == (found.selected.name != DEFAULT_TREES)
    assert "ndcg@10" in found.conclusion.sentence
    assert all(f"{rival.value:.4f}" in found.conclusion.sentence for rival in found.conclusion.baselines)
    better = [rival.name for rival in found.conclusion.baselines if rival.verdict == "better"]
    assert len(better) > 1
    assert f" and {better[-1]} (" in found.conclusion.sentence


@pytest.mark.parametrize(("queries", "advises"), [(12, True), (40, False)])
def test_the_conclusion_counts_its_queries(queries: int, advises: bool) -> None:
    """The sentence states that few queries are little evidence."""
    few = _DATA.select_queries(np.arange(queries))
    sentence = auto_train(AutoSpec(budget_seconds=1_000.0), few, candidates=_FEW[1:2]).conclusion.sentence
    assert f"] on {queries} held-out queries: " in sentence
    assert sentence.endswith(" Judge more queries: fewer than 20 are little evidence.") == advises
