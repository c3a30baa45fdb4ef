"""Judgments from click models, their join with features, and their agreement with labels."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from core.clicks.agreement import agreement_with, cohen_kappa
from core.clicks.joining import COLUMNS, documents_without_features, judged_dataset, pairs_of
from core.clicks.judgment_options import JudgmentSpec
from core.clicks.judgments import Judgments, beta_prior, gamma_prior, judge_clicks
from core.clicks.models import ClickModelSpec, fit_click_model
from core.data import RankingDataset
from core.errors import InvalidInput
from tests.core.clicks.models.sessions import as_log, draw_sessions

LOG = as_log(draw_sessions())
CTR = fit_click_model(LOG, ClickModelSpec(model="ctr", resamples=0))
FEATURES = RankingDataset.from_arrays(
    np.arange(14.0)[:, np.newaxis],
    np.tile([3.0, 2.0, 0.0, 1.0, 0.0, 2.0, 1.0], 2),
    [0, 7, 14],
    query_ids=["q1", "elsewhere"],
    document_ids=["d11", "d10", "d0", "d3", "d1", "d9", "unknown"] * 2,
    document_columns={"title": [f"t{row}" for row in range(14)]},
    query_columns={"market": ["de", "us"]},
)


def judgments(**options: Any) -> Judgments:
    """Grade the pairs of the log by their click-through rate."""
    return judge_clicks(CTR, JudgmentSpec(**{"min_impressions": 12, "shrink": False, **options}))


def test_grades_count_the_cuts_below_a_relevance() -> None:
    """A relevance at a cut has the lower grade; pairs with too few impressions have none."""
    cut = float(CTR.relevance[CTR.impressions >= 12].max())
    found = judgments(cuts=(0.1, 0.2, cut))
    for pair in range(LOG.n_pairs):
        relevance = CTR.relevance[pair]
        grade = sum(relevance > limit for limit in (0.1, 0.2, cut))
        assert found.grades[pair] == (grade if CTR.impressions[pair] >= 12 else -1)
    assert 0 < (found.grades < 0).sum() < LOG.n_pairs
    summary = found.to_json()
    assert summary["judged"] == sum(summary["by_grade"]) == (found.grades >= 0).sum()


def test_quantiles_are_of_the_judged_pairs() -> None:
    """Cuts are quantiles of the relevances of judged pairs; a pair above the third quartile has grade 3."""
    found = judgments(quantiles=(0.25, 0.5, 0.75))
    judged = CTR.relevance[CTR.impressions >= 12]
    np.testing.assert_allclose(found.cuts, np.quantile(judged, (0.25, 0.5, 0.75)))
    assert (found.grades == 3).sum() == (judged > found.cuts[2]).sum()


def test_shrinkage_is_the_posterior_of_a_beta_prior() -> None:
    """The prior is fitted to the judged pairs, and intervals are quantiles of the posterior."""
    found = judgments(shrink=True)
    judged = CTR.impressions >= 12
    a, b = beta_prior(CTR.clicks[judged], CTR.impressions[judged])
    expected = (CTR.clicks + a) / (CTR.impressions + a + b)
    np.testing.assert_allclose(found.relevances, expected, rtol=1e-9)
    posterior = stats.beta(CTR.clicks + a, CTR.impressions - CTR.clicks + b)
    np.testing.assert_allclose(found.lower, posterior.ppf(0.025), rtol=1e-6)
    np.testing.assert_allclose(found.upper, posterior.ppf(0.975), rtol=1e-6)
    lower, upper = found.grade_ends()
    assert (lower[judged] <= found.grades[judged]).all()
    assert (found.grades[judged] <= upper[judged]).all()


def test_priors_are_recovered_from_many_draws() -> None:
    """Beta and gamma priors are recovered; equal proportions give a prior of the largest weight."""
    draws = np.random.default_rng(5)
    trials = draws.integers(5, 60, 20_000).astype(np.float64)
    successes = draws.binomial(trials.astype(np.int64), draws.beta(2.0, 6.0, 20_000)).astype(np.float64)
    np.testing.assert_allclose(beta_prior(successes, trials), (2.0, 6.0), rtol=0.08)
    clicks = draws.poisson(trials * draws.gamma(3.0, 0.5, 20_000)).astype(np.float64)
    np.testing.assert_allclose(gamma_prior(clicks, trials), (3.0, 2.0), rtol=0.08)
    a, b = beta_prior(np.full(50, 2.0), np.full(50, 10.0))
    assert a / (a + b) == pytest.approx(0.2)
    assert a + b == 1e6


@pytest.mark.parametrize("name", ["coec", "cascade", "dcm", "pbm", "ubm", "sdbn", "dbn"])
def test_every_model_gives_judgments_within_their_intervals(name: str) -> None:
    """Shrunken relevances keep most of the order, and lie within their intervals."""
    model = fit_click_model(LOG, ClickModelSpec(model=name, resamples=5))
    found = judge_clicks(model, JudgmentSpec(min_impressions=12))
    assert (found.lower <= found.relevances).all()
    assert (found.relevances <= found.upper).all()
    judged = found.grades >= 0
    assert stats.spearmanr(found.relevances[judged], model.relevance[judged]).statistic > 0.7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cuts": (0.2, 0.1)}, "/cuts: must ascend"),
        ({"quantiles": (0.5, 1.0)}, "/quantiles: must be at least 0 and below 1"),
        ({"quantiles": None}, "/quantiles: required"),
        ({"min_impressions": 0}, "/min_impressions: must be at least 1"),
        (
            {"min_impressions": 1_000},
            "/min_impressions: no query-document pair has so many impressions; the maximum is",
        ),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    """The error points at the option."""
    with pytest.raises(InvalidInput, match=message):
        judgments(**options)


def test_pairs_are_found_by_the_ids_of_queries_and_documents() -> None:
    """Documents of the dataset that the log does not have get no pair (-1)."""
    assert pairs_of(FEATURES, LOG).tolist() == [23, 22, 12, 15, 13, 21, -1] + [-1] * 7


def test_documents_outside_the_log_do_not_hide_absent_features() -> None:
    """-1, for a document that the log does not have, is not the last pair."""
    (finding,) = documents_without_features(LOG, np.array([-1, 0]))
    assert finding.count == np.count_nonzero(LOG.pairs != 0)


def test_grades_become_labels_of_a_dataset() -> None:
    """Documents keep their features and columns, and get columns with the uncertainty of the grade."""
    found = judgments(min_impressions=1)
    dataset = judged_dataset(FEATURES, pairs_of(FEATURES, LOG), found)
    assert dataset.query_ids == ("q1",)
    assert dataset.matrix[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert dataset.labels.tolist() == found.grades[[23, 22, 12, 15, 13, 21]].tolist()
    assert list(dataset.document_columns["title"]) == [f"t{row}" for row in range(6)]
    assert dataset.query_columns["market"] == ("de",)
    columns = [list(dataset.document_columns[name]) for name in COLUMNS]
    assert columns[0][0] == f"{CTR.impressions[23]:.0f}"
    assert [float(text) for text in columns[2]] == pytest.approx(
        found.lower[[23, 22, 12, 15, 13, 21]], rel=1e-3
    )
    filled = judged_dataset(FEATURES, pairs_of(FEATURES, LOG), found, "zero")
    assert filled.query_boundaries.tolist() == [0, 7]
    assert (filled.labels[6], filled.document_columns[COLUMNS[1]][6]) == (0.0, "")
    with pytest.raises(InvalidInput, match="the clicks judge no query-document pair of the dataset"):
        judged_dataset(FEATURES.select_queries([1]), pairs_of(FEATURES.select_queries([1]), LOG), found)


def test_agreement_with_labels_is_by_kappa_and_kendall() -> None:
    """Kendall's tau-b is the mean over queries, of the shared pairs; kappa equals values by hand."""
    found = judgments(min_impressions=1)
    agreement = agreement_with(found, LOG, FEATURES)
    pairs = [23, 22, 12, 15, 13, 21]
    labels = FEATURES.labels[:6]
    tau = stats.kendalltau(found.relevances[pairs], labels).statistic
    assert (agreement.pairs, agreement.queries) == (6, 1)
    assert agreement.kendall_tau == pytest.approx(tau)
    # Grades 2, 4, 0, 1, 0, 0 and labels 3, 2, 0, 1, 0, 2: observed 3/6, expected 27/36; squared 9/6, 122/36.
    assert agreement.kappa == pytest.approx(1 - (3 / 6) / (27 / 36))
    assert agreement.weighted_kappa == pytest.approx(1 - (9 / 6) / (122 / 36))
    both = agreement_with(found, LOG, replace(FEATURES, query_ids=("q1", "q0")))
    other = stats.kendalltau(found.relevances[[11, 10, 0, 3, 1, 9]], labels).statistic
    assert both.kendall_tau == pytest.approx((tau + other) / 2)
    first, second = np.array([0.0, 1, 2, 2, 1, 0]), np.array([0.0, 1, 1, 2, 2, 0])
    # Observed 2/6; expected 1 − 3 (1/3)², with squares: 2/6, and 12/9.
    assert cohen_kappa(first, second, squared=False) == pytest.approx(1 - (2 / 6) / (6 / 9))
    assert cohen_kappa(first, second, squared=True) == pytest.approx(1 - (2 / 6) / (12 / 9))
    for squared in (False, True):
        assert cohen_kappa(np.ones(3), np.ones(3), squared=squared) is None
        many = np.arange(60_000.0)  # a table of all pairs of grades would need 29 GB
        assert cohen_kappa(many, many, squared=squared) == 1.0
