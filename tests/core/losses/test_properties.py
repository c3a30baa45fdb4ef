"""Properties of the losses on any data, and known defects of public implementations."""

from itertools import pairwise

import numpy as np
import pytest

from core.errors import InvalidInput
from core.gains import inverse_discounts
from core.losses import LOSSES, make_loss
from core.losses.exponential import exponentials
from core.losses.plan import balanced_bins
from core.losses.randomness import fill_normal, mix, uniform
from core.ranges import use_threads
from tests.core.losses.reference import NONZERO_ON_ONE_LABEL
from tests.core.losses.test_derivatives import PAIRWISE, joined, random_queries

RANKED = [name for name in LOSSES if name != "mse"]
DETERMINISTIC: list[tuple[str, dict[str, object]]] = [
    (name, {"ties": "input"} if "listmle" in name else {})
    for name in LOSSES
    if name != "xe-ndcg"  # its targets are drawn by query and document
]
ZERO_WITHOUT_PAIRS = [name for name in LOSSES if name not in NONZERO_ON_ONE_LABEL]

ONE_QUERY = np.array([0, 5])
FIGURE_1A = (np.array([0.04, 0.03, 0.02, 0.01, 0.00]), np.array([1.0, 2.0, 0.0, 0.0, 0.0]))


def test_lambdarank_gives_the_2023_papers_table_1() -> None:
    """With τ = 1 the five λ of Marcuzzi et al. 2023, Table 1: the gradient of rank 2 is too small."""
    terms = make_loss("lambdarank", truncation_level=1)(*FIGURE_1A, ONE_QUERY)
    np.testing.assert_allclose(-terms.gradient, [0.152, 0.124, -0.083, -0.093, -0.100], atol=6e-4)


def test_lambdarank_gives_the_2023_papers_table_2() -> None:
    """Without truncation the three λ of Table 2; the paper adds rounded summands, hence ± 0.001."""
    terms = make_loss("lambdarank")(np.array([0.02, 0.01, 0.0]), np.array([4.0, 0.0, 1.0]), np.array([0, 3]))
    np.testing.assert_allclose(-terms.gradient, [0.397, -0.180, -0.217], atol=1e-3)


def test_distance_weights_telescope() -> None:
    """Σ_{d < i} δ(d) = 1 − 1/D(i); implementations with ranks from 0 are off by one here."""
    n = 30
    labels = np.zeros(n)
    labels[0] = 1.0
    plan = make_loss("ndcg-loss2").prepare(labels, np.array([0, n])).plan  # type: ignore[attr-defined]
    for i in range(1, n + 1):
        assert plan.distance_weights[:i].sum() == pytest.approx(1.0 - 1.0 / np.log2(1 + i), abs=1e-14)
    assert inverse_discounts("log2", 3).tolist() == [1.0, 1 / np.log2(3), 0.5]


@pytest.mark.parametrize("name", PAIRWISE)
def test_the_gradients_of_a_query_sum_to_zero(name: str) -> None:
    """The gradients of the two documents of a pair are opposite."""
    scores, labels, boundaries = joined(random_queries(seed=3, count=20))
    terms = make_loss(name, truncation_level=4)(scores, labels, boundaries)
    sums = np.add.reduceat(terms.gradient, boundaries[:-1])
    np.testing.assert_allclose(sums, 0.0, atol=1e-12)


@pytest.mark.parametrize("name", RANKED)
def test_adding_a_constant_to_all_scores_changes_nothing(name: str) -> None:
    """Only score differences count."""
    scores, labels, boundaries = joined(random_queries(seed=4, count=10))
    scores = np.round(scores * 1024) / 1024  # so that the shift itself is exact
    here, there = (make_loss(name)(scores + shift, labels, boundaries) for shift in (0.0, 64.0))
    for term in ("value", "gradient", "hessian"):
        np.testing.assert_allclose(getattr(here, term), getattr(there, term), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "xe-ndcg"])
def test_the_order_of_documents_does_not_matter(name: str) -> None:
    """Without ties, permuting a query's documents permutes its terms."""
    generator = np.random.default_rng(5)
    scores, labels = generator.normal(size=30), generator.permutation(30) / 6.0
    shuffle = generator.permutation(30)
    plain = make_loss(name)(scores, labels, np.array([0, 30]))
    mixed = make_loss(name)(scores[shuffle], labels[shuffle], np.array([0, 30]))
    np.testing.assert_allclose(mixed.gradient, plain.gradient[shuffle], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mixed.hessian, plain.hessian[shuffle], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "options"), DETERMINISTIC)
def test_queries_are_independent(name: str, options: dict[str, object]) -> None:
    """A query's terms are the same alone and among others, bit for bit."""
    queries = random_queries(seed=6, count=15)
    scores, labels, boundaries = joined(queries)
    together = make_loss(name, **options)(scores, labels, boundaries)
    for number, (query_scores, query_labels) in enumerate(queries):
        alone = make_loss(name, **options)(query_scores, query_labels, np.array([0, len(query_scores)]))
        rows = slice(boundaries[number], boundaries[number + 1])
        assert alone.gradient.tobytes() == together.gradient[rows].tobytes()
        assert alone.hessian.tobytes() == together.hessian[rows].tobytes()


@pytest.mark.parametrize("name", ZERO_WITHOUT_PAIRS)
@pytest.mark.parametrize(
    "labels", [[0.0, 0.0, 0.0], [3.0, 3.0, 3.0], [2.0]], ids=["none relevant", "one label", "one document"]
)
def test_queries_without_pairs_contribute_zero(name: str, labels: list[float]) -> None:
    """One document or one label: nothing to learn, and no NaN from an ideal DCG of zero."""
    terms = make_loss(name)(np.arange(len(labels), dtype=float), np.array(labels), np.array([0, len(labels)]))
    assert not terms.value.any()
    assert not terms.gradient.any()
    assert not terms.hessian.any()


@pytest.mark.parametrize("name", RANKED)
@pytest.mark.parametrize("label", [0.0, 2.0])
def test_a_query_of_one_document_contributes_zero(name: str, label: float) -> None:
    """The document has no other document to be ranked above."""
    terms = make_loss(name)(np.array([0.7]), np.array([label]), np.array([0, 1]))
    assert [*terms.value, *terms.gradient, *terms.hessian] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("label", [1.0, 4.0])
def test_listnet_follows_its_equation_on_a_query_of_one_label(label: float) -> None:
    """Bruch et al. 2019, equation 7: the targets are 1/n, so the gradient is softmax − 1/3."""
    terms = make_loss("listnet")(np.array([1.0, 0.0, -1.0]), np.full(3, label), np.array([0, 3]))
    np.testing.assert_allclose(terms.gradient, [0.332, -0.089, -0.243], atol=5e-4)


@pytest.mark.parametrize("target", ["label", "softmax", "gain-softmax"])
def test_listnet_leaves_out_a_query_without_relevant_documents(target: str) -> None:
    """Targets y / Σ y are 0 / 0: the query is left out. A softmax of equal labels is 1/n."""
    scores = np.array([1.0, 0.0, -1.0])
    gradient = make_loss("listnet", target=target)(scores, np.zeros(3), np.array([0, 3])).gradient
    shares = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(gradient, shares - 1 / 3 if target != "label" else np.zeros(3), atol=1e-12)


@pytest.mark.parametrize("name", [name for name in PAIRWISE if not name.endswith(("ranksvm", "rankboost"))])
@pytest.mark.parametrize("scale", [1e3, 1e30])
def test_scores_far_apart_give_the_exact_limit(name: str, scale: float) -> None:
    """If every exponential vanishes, a pair in order adds 0 and a pair out of order its full weight."""
    labels = np.array([0.0, 1.0, 2.0, 0.0])
    scores = scale * np.array([1.0, 0.5, -0.5, -1.0])
    near = make_loss(name)(scores / scale * 250, labels, np.array([0, 4]))
    far = make_loss(name)(scores, labels, np.array([0, 4]))
    np.testing.assert_allclose(far.gradient, near.gradient, rtol=1e-12, atol=1e-50)
    np.testing.assert_allclose(far.hessian, 0.0, atol=1e-50)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in LOSSES),
        *((name, {"truncation_level": 2}) for name in PAIRWISE),
        *((name, {"normalization": "lightgbm"}) for name in PAIRWISE),
        *((name, {"normalization": "score-gap"}) for name in PAIRWISE),
    ],
)
def test_any_finite_scores_give_finite_terms(name: str, options: dict[str, object]) -> None:
    """±1e30 among ordinary scores: no NaN and no infinity anywhere."""
    scores = np.array([1e30, -1e30, 0.0, 5.0, -3.0, 1e30, -1e30, 1e-300])
    labels = np.array([0.0, 2.0, 1.0, 0.0, 4.0, 3.0, 0.0, 1.0])
    terms = make_loss(name, **options)(scores, labels, np.array([0, 8]))
    for values in (terms.value, terms.gradient, terms.hessian):
        assert np.isfinite(values).all()
    assert (terms.hessian >= 0).all()


@pytest.mark.parametrize("name", RANKED)
@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_scores_that_have_no_rank_are_refused(name: str, score: float) -> None:
    """LightGBM stops silently on a NaN gradient; the objective refuses such scores before that."""
    objective = make_loss(name).prepare(np.array([0.0, 1.0]), np.array([0, 2]))
    with pytest.raises(InvalidInput, match="must be finite"):
        objective(np.array([score, 0.0]), 0)


@pytest.mark.parametrize("name", [name for name in PAIRWISE if name != "rankboost"])
def test_both_computations_of_the_logistic_function_agree(name: str) -> None:
    """Just inside and just outside the spread where exponentials are shared, the terms are continuous."""
    labels = np.array([0.0, 1.0, 2.0, 0.0, 1.0])
    scores = np.array([0.3, 0.1, 0.2, 0.0, 600.0])
    shared = make_loss(name)(scores - np.array([0, 0, 0, 0, 1e-9]), labels, ONE_QUERY)
    paired = make_loss(name)(scores + np.array([0, 0, 0, 0, 1e-9]), labels, ONE_QUERY)
    np.testing.assert_allclose(shared.gradient, paired.gradient, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(shared.hessian, paired.hessian, rtol=1e-9, atol=1e-12)


def test_loss2_plus_plus_without_mu_is_lambdarank() -> None:
    """The two differ by μ δ only."""
    scores, labels, boundaries = joined(random_queries(seed=7, count=5))
    plain = make_loss("lambdarank")(scores, labels, boundaries)
    mixed = make_loss("ndcg-loss2++", mu=0.0)(scores, labels, boundaries)
    np.testing.assert_allclose(plain.gradient, mixed.gradient, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "hyperparameters", "pointer"),
    [
        ("lambdarnak", {}, "/name"),
        ("lambdarank", {"sigma": 0.0}, "/sigma"),
        ("lambdarank", {"sigma": float("nan")}, "/sigma"),
        ("lambdarank", {"truncation_level": 0}, "/truncation_level"),
        ("lambdarank", {"truncation_level": 2.5}, "/truncation_level"),
        ("lambdarank", {"mu": 1.0}, "/mu"),
        ("ndcg-loss2++", {"mu": -1.0}, "/mu"),
        ("ndcg-loss2++", {"mu": True}, "/mu"),
        ("mse", {"sigma": 1.0}, "/sigma"),
        ("lambdarank", {"pair_selection": "static"}, "/pair_selection"),
        ("lambdarank", {"pair_selection": "most", "truncation_level": 3}, "/pair_selection"),
        ("lambdarank", {"target": "auc"}, "/target"),
        ("lambdarank", {"gain": "cubic"}, "/gain"),
        ("lambdarank", {"gain": []}, "/gain"),
        ("lambdarank", {"gain": [0.0, -1.0]}, "/gain"),
        ("lambdarank", {"gain": [0.0, "1"]}, "/gain"),
        ("listnet", {"target": "ndcg"}, "/target"),
        ("xe-ndcg", {"seed": -1}, "/seed"),
    ],
)
def test_hyperparameters_out_of_bounds_are_refused(
    name: str, hyperparameters: dict[str, object], pointer: str
) -> None:
    """A wrong hyperparameter is named by its pointer."""
    with pytest.raises(InvalidInput) as caught:
        make_loss(name, **hyperparameters)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_bins_hold_every_query_once_and_are_balanced() -> None:
    """No query is lost, and no bin is much heavier than the average unless one query is."""
    costs = np.random.default_rng(8).exponential(size=2000) + 0.1
    boundaries = balanced_bins(costs)
    assert (boundaries[0], boundaries[-1]) == (0, 2000)
    assert (np.diff(boundaries) >= 0).all()
    loads = [costs[a:b].sum() for a, b in pairwise(boundaries)]
    assert max(loads) < costs.sum() / len(loads) + costs.max()
    assert balanced_bins(np.array([1.0, 1e9, 1.0]))[-1] == 3
    assert balanced_bins(np.empty(0)).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("name", "hyperparameters", "labels", "message"),
    [
        (
            "lambdarank",
            {"gain": [0.0, 1.0]},
            [0.0, 2.0],
            "a list of 2 gains needs labels that are whole numbers from 0 to 1",
        ),
        ("lambdarank", {"gain": [0.0, 1.0]}, [0.0, 0.5], "needs labels that are whole numbers"),
        (
            "lambdarank",
            {},
            [0.0, 31.0],
            "limited to labels up to 30, as in LightGBM; the largest label is 31",
        ),
        ("xe-ndcg", {}, [0.0, 31.0], "the largest label is 31"),
        ("listnet", {"target": "gain-softmax"}, [0.0, 31.0], "/loss/target: .* the largest label is 31"),
        ("lambdarank", {"target": "err"}, [0.0, 5.0], "is 4, the data has label 5"),
        ("w-listmle", {}, [0.0, -1.0], "labels must be finite and at least 0"),
        ("w-ranknet", {}, [0.0, np.nan], "labels must be finite and at least 0"),
    ],
)
def test_labels_that_do_not_fit_the_gain_are_refused(
    name: str, hyperparameters: dict[str, object], labels: list[float], message: str
) -> None:
    """The error has a solution and is raised before training starts."""
    with pytest.raises(InvalidInput, match=message):
        make_loss(name, **hyperparameters).prepare(np.array(labels), np.array([0, 2]))


def test_exponentials_are_accurate_to_the_last_places() -> None:
    """Relative error below 1e-15 over the whole range that kernels use."""
    x = np.concatenate(([0.0, -1e-20, -600.0], -np.random.default_rng(0).uniform(0, 700, 10_000)))
    result, powers = np.empty_like(x), np.empty(len(x), np.int64)
    exponentials(x, len(x), result, powers)
    np.testing.assert_allclose(result, np.exp(x), rtol=1e-15)


def test_uniform_numbers_are_below_1() -> None:
    """The key is the inverse of `mix` for the largest number, which rounding would make 1."""
    z = 2**64 - 1
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9), (30, 1)):
        z ^= z >> shift ^ z >> 2 * shift
        z = z * pow(factor, -1, 2**64) % 2**64
    key = np.uint64(z ^ 0x632BE59BD9B4E019)
    assert mix(key, np.uint64(0)) == 2**64 - 1
    assert uniform(key, np.uint64(0)) == 1.0 - 2.0**-53


def test_normal_numbers_are_those_of_box_and_muller() -> None:
    """Two uniform numbers above 0 give two normal ones, exact to 1e-14; an odd last one is dropped."""
    key = np.uint64(mix(np.uint64(3), 5))
    for n in (1, 2, 20_005):
        drawn, bits = np.empty(n), np.empty(n, np.int64)
        fill_normal(key, n, drawn, bits)
        uniforms = np.array([uniform(key, np.uint64(i)) for i in range(n + 1)])
        half = (n + 1) // 2
        radius = np.sqrt(-2.0 * np.log(uniforms[0 : 2 * half : 2]))
        angle = 2.0 * np.pi * uniforms[1 : 2 * half : 2]
        expected = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:n]
        np.testing.assert_allclose(drawn, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", LOSSES)
def test_results_do_not_depend_on_the_number_of_threads(name: str) -> None:
    """One query is summed by one thread in a fixed order: the same bits with 1 and with 2 threads."""
    scores, labels, boundaries = joined(random_queries(seed=11, count=150))
    objective = make_loss(name).prepare(labels, boundaries)
    bits = set()
    for threads in (1, 2):
        use_threads(threads)
        gradient, hessian = objective(scores, 3)
        bits.add((gradient.tobytes(), hessian.tobytes()))
    assert len(bits) == 1
