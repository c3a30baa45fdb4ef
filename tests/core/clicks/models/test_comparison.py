"""Movement, intervals and comparison of click models."""

from dataclasses import replace

import numpy as np
import pytest

from core.clicks.judgment_options import JudgmentSpec
from core.clicks.judgments import judge_clicks
from core.clicks.models import (
    MODELS,
    ClickModelSpec,
    compare_click_models,
    evaluate_click_model,
    fit_click_model,
    held_out_list_weights,
)
from core.clicks.models.components import rank_movement
from core.clicks.models.evaluation import Evaluation, _differences, _sentence
from core.clicks.models.layout import QueryBlocks
from core.errors import InvalidInput
from core.types import Float64Array
from tests.core.clicks.models.sessions import Session, as_log, draw_sessions
from tests.core.clicks.models.simulation import simulated

QUICK = ClickModelSpec(iterations=5, resamples=0)


def test_ranks_that_share_no_document_are_separate_components() -> None:
    """A document connects the ranks at which it was shown; the finding names the separate groups of ranks."""
    shown = [(0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 3, 2)]
    log = as_log([Session(0, documents, (True, False, False, True)) for documents in shown])
    lists = QueryBlocks.of(log, 50)
    movement = rank_movement(lists, np.ones(3))
    assert movement.components == ((1, 2), (3, 4))
    assert (movement.moved_pairs, movement.shown_pairs, movement.moved_impression_share) == (4, 4, 1.0)
    assert rank_movement(lists, np.array([1.0, 1.0, 0.0])).components == ((1, 2), (3,), (4,))
    sentence = fit_click_model(log, QUICK).findings[-1]
    assert sentence.startswith("No document connects these groups of ranks: 1–2; 3–4.")
    assert fit_click_model(log, replace(QUICK, model="sdbn")).findings == ()


def test_a_log_whose_ranks_never_move_identifies_no_examination() -> None:
    """The finding reports that no document was shown at more than one rank."""
    log = as_log([Session(0, (0, 1, 2), (True, False, False))] * 5)
    sentence = fit_click_model(log, QUICK).findings[-1]
    assert sentence.startswith("No document was shown at more than one rank")
    assert fit_click_model(as_log(draw_sessions()), QUICK).findings[1:] == ()


def test_held_out_lists_are_those_of_whole_users() -> None:
    """No user has lists both in the estimation and among the held-out lists."""
    users = [number % 7 for number in range(60)]
    held = held_out_list_weights(as_log(draw_sessions(), users), 0.4, seed=3)
    for user in range(7):
        assert len(set(held[user::7])) == 1
    assert 0 < held.sum() < 60


def test_the_model_that_drew_the_clicks_is_named() -> None:
    """One sentence names the best model and those that cannot be distinguished from it."""
    log = simulated("dbn", 4_000, seed=1).log
    compared = compare_click_models(log, ["ctr", "pbm", "dbn"], ClickModelSpec(iterations=30))
    assert compared.best == "dbn"
    assert compared.sentence == "`dbn` predicts held-out clicks best; the difference is significant (95%)."
    for difference, lower, upper in compared.differences:
        assert lower < difference < upper < 0.0
    few = compare_click_models(simulated("pbm", 400, seed=3).log, ["pbm", "ubm"], QUICK, held_out=0.3)
    assert (
        few.sentence
        == "`pbm` predicts held-out clicks best; the difference from `ubm` is not significant (95%)."
    )
    assert few.to_json()["models"][1]["difference"]["upper"] >= 0.0
    alone = compare_click_models(
        as_log(draw_sessions(), [0] * 30 + [1] * 30), ["ctr", "pbm"], QUICK, held_out=0.5
    )
    assert alone.to_json()["models"][1]["difference"]["upper"] is None
    assert "is not significant" in alone.sentence
    with pytest.raises(InvalidInput, match="leaves no list for the estimation"):
        compare_click_models(log, ["ctr"], held_out=1.0)
    with pytest.raises(InvalidInput, match="/held_out: leaves no list with impressions"):
        compare_click_models(log, ["ctr"], held_out=0.0)
    with pytest.raises(InvalidInput, match="/weights: must be above 0"):
        evaluate_click_model(fit_click_model(log, QUICK), log, np.zeros(log.n_lists))


@pytest.mark.parametrize("name", MODELS)
def test_a_skip_of_a_document_that_was_always_clicked_has_a_likelihood(name: str) -> None:
    """Without pseudo-counts, the log-likelihood is low but a number: NaN has no place in an order."""
    log = as_log([Session(0, (0, 1), (True, False)), Session(0, (0, 1), (False, False))])
    spec = ClickModelSpec(model=name, prior_clicks=0.0, prior_skips=0.0, resamples=0)
    fitted = fit_click_model(log, spec, weights=np.array([1.0, 0.0]))
    assert -20.0 < evaluate_click_model(fitted, log).log_likelihood < 0.0


def test_lists_below_the_greatest_used_rank_are_not_evaluated() -> None:
    """A list whose impressions are all at greater ranks has no likelihood, and does not raise the mean."""
    sessions = draw_sessions()
    second_pages = as_log(sessions * 2)
    ranks = second_pages.ranks.copy()
    ranks[len(ranks) // 2 :] += 20
    log, spec = replace(second_pages, ranks=ranks), replace(QUICK, max_rank=10)
    model = fit_click_model(as_log(sessions), spec)
    alone, both = (evaluate_click_model(model, each) for each in (as_log(sessions), log))
    assert both.log_likelihood == alone.log_likelihood
    users = np.tile(np.arange(60, dtype=np.int32), 2)
    compared = compare_click_models(replace(log, list_users=users), ["ctr", "pbm"], spec, held_out=0.5)
    only = compare_click_models(as_log(sessions, users[:60].tolist()), ["ctr", "pbm"], spec, held_out=0.5)
    assert compared.differences == only.differences
    assert compared.held_out_lists == only.held_out_lists


def test_the_first_of_models_that_do_not_differ_has_the_highest_log_likelihood() -> None:
    """Models are ordered by log-likelihood, although another may have a lower perplexity."""

    def evaluation(model: str, log_likelihood: float, perplexity: float) -> Evaluation:
        empty = np.empty(0)
        return Evaluation(model, log_likelihood, perplexity, perplexity, empty.reshape(0, 3), empty)

    ordered = [evaluation("dbn", -0.30, 1.3), evaluation("pbm", -0.31, 1.2), evaluation("ctr", -0.32, 1.4)]
    assert _sentence(ordered, [(-0.01, -0.02, 0.01), (-0.02, -0.03, 0.01)]) == (
        "No model is significantly best: `dbn` has the highest log-likelihood,"
        " but no model differs significantly from it."
    )


def _evaluation(model: str, by_list: Float64Array) -> Evaluation:
    return Evaluation(model, float(by_list.mean()), 1.5, 1.5, np.empty((0, 3)), by_list)


@pytest.mark.parametrize("n_users", [2, 5, 20])
def test_intervals_of_differences_contain_the_truth_where_users_differ_in_lists(n_users: int) -> None:
    """Users with more lists count more, but a user remains one unit."""
    rng = np.random.default_rng(n_users)
    contained = 0
    for _ in range(400):
        users = np.repeat(np.arange(n_users), np.minimum(rng.zipf(1.7, n_users), 100)).astype(np.int32)
        by_list = rng.normal(size=len(users)) + 0.5 * rng.normal(size=n_users)[users]
        zero = _evaluation("pbm", np.zeros(len(users)))
        ((_, lower, upper),) = _differences([zero, _evaluation("ctr", by_list)], users)
        contained += lower <= 0.0 <= upper
    assert contained / 400 > 0.86


def test_differences_of_equal_models_are_rarely_significant() -> None:
    """The best of many models is chosen from the data, so that all pairs count."""
    rng = np.random.default_rng(0)
    significant = 0
    for _ in range(400):
        models = [_evaluation(f"m{number}", rng.normal(size=100)) for number in range(8)]
        models.sort(key=lambda each: -each.log_likelihood)
        significant += any(upper < 0.0 for _, _, upper in _differences(models, None))
    assert significant / 400 < 0.06


def test_intervals_have_users_as_units() -> None:
    """Lists that one user repeats count as one: their intervals are wider than those of lists."""
    sessions = draw_sessions()
    repeated = [session for session in sessions for _ in range(9)]
    spec = ClickModelSpec(model="cascade", resamples=60)
    by_user = fit_click_model(as_log(repeated, [number // 9 for number in range(540)]), spec)
    by_list = fit_click_model(as_log(repeated), spec)
    np.testing.assert_array_equal(by_user.relevance, by_list.relevance)
    assert by_user.relevance_variance is not None
    assert by_list.relevance_variance is not None
    ratio = np.median(by_user.relevance_variance / by_list.relevance_variance)
    assert 5.0 < ratio < 14.0  # 9, except for the prior
    again = fit_click_model(as_log(repeated, [number // 9 for number in range(540)]), spec)
    assert again.relevance_variance is not None
    assert again.relevance_variance.tobytes() == by_user.relevance_variance.tobytes()


@pytest.mark.parametrize(("n_users", "resamples"), [(1, 20), (2, 1)])
def test_one_user_or_one_resample_gives_no_interval(n_users: int, resamples: int) -> None:
    """Such resamples do not differ; intervals of width 0 would look certain."""
    sessions = draw_sessions()
    log = as_log(sessions, [number % n_users for number in range(len(sessions))])
    model = fit_click_model(log, ClickModelSpec(model="cascade", resamples=resamples))
    assert (model.intervals, model.relevance_variance) == ({}, None)


def test_intervals_of_few_users_are_wide() -> None:
    """Two users vary by chance, so that the spread of their resamples is less certain than that of forty."""
    sessions, spec = draw_sessions() * 20, ClickModelSpec(model="cascade", resamples=60)
    numbers = range(len(sessions))
    two = fit_click_model(as_log(sessions, [number % 2 for number in numbers]), spec)
    many = fit_click_model(as_log(sessions, [number % 40 for number in numbers]), spec)
    assert two.relevance_variance is not None
    assert many.relevance_variance is not None
    assert two.relevance_variance.sum() > 10.0 * many.relevance_variance.sum()


def test_a_pair_without_clicks_has_an_interval() -> None:
    """The interval is that of a beta distribution by the pair's counts, where resamples do not differ."""
    log = as_log([Session(0, (0, 1), (True, False))] * 20)
    model = fit_click_model(log, ClickModelSpec(model="ctr", resamples=10))
    interval = judge_clicks(model, JudgmentSpec(min_impressions=1, shrink=False))
    np.testing.assert_allclose(interval.lower[1], 1.0 - 0.975 ** (1 / 21), rtol=1e-6)
    np.testing.assert_allclose(interval.upper[1], 1.0 - 0.025 ** (1 / 21), rtol=1e-6)


def coverage(name: str, draws: int) -> tuple[float, float]:
    """Return the shares of relevances, and of shared parameters, within their 95% intervals."""
    of_pairs, of_shared = [], []
    for seed in range(draws):
        drawn = simulated(name, 3_000, seed)
        spec = ClickModelSpec(model=name, resamples=40, seed=seed, iterations=60)
        model = fit_click_model(drawn.log, spec)
        interval = judge_clicks(model, JudgmentSpec(min_impressions=1, shrink=False))
        of_pairs.append(((interval.lower <= drawn.relevance) & (drawn.relevance <= interval.upper)).mean())
        for parameter, truth in drawn.shared.items():
            ends = model.intervals[parameter]
            inside = (ends.lower <= truth) & (truth <= ends.upper)
            of_shared.append(inside[1:].mean() if parameter == "relative_examination" else inside.mean())
    return float(np.mean(of_pairs)), float(np.mean(of_shared)) if of_shared else 1.0


@pytest.mark.parametrize("name", ["pbm", "cascade", "dbn"])
def test_intervals_hold_the_truth_of_one_simulated_log(name: str) -> None:
    """At least 87% of the relevances of one log are within their 95% intervals."""
    of_pairs, _ = coverage(name, 1)
    assert 0.87 <= of_pairs <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pbm", "ubm", "cascade", "dbn"])
def test_intervals_hold_about_95_percent_of_the_truth_of_forty_logs(name: str) -> None:
    """About 95% of the relevances, and at least 90% of the shared parameters, are within their intervals."""
    of_pairs, of_shared = coverage(name, 40)
    assert 0.925 <= of_pairs <= 0.975
    assert 0.90 <= of_shared <= 1.0
