"""Generate artificial ranking data whose relevance is a known random cubic polynomial of the features."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.data.dataset import RankingDataset, numbered_features
from core.data.features import new_matrix
from core.data.texts import row_numbers
from core.errors import InputProblem, InvalidInput
from core.types import Float32Array, Float64Array, Int64Array

_DEGREES = (1, 2, 3)
_TERMS_PER_FEATURE = 2  # of degree 2 and of degree 3
_REFERENCE_DOCUMENTS = 100_000  # keeps the share of the rarest label exact to 0.03 percentage points
_BLOCK_DOCUMENTS = 16_384  # a block of 50 features in float64 is 6.5 MB
POLYNOMIAL, REFERENCE, FEATURES, NOISE, GRADES = range(5)  # independent random streams


def random_stream(*key: int) -> np.random.Generator:
    """Return the random generator of a key: a stream, such as `FEATURES`, and a seed."""
    return np.random.default_rng(key)


@dataclass(frozen=True, eq=False)
class CubicPolynomial:
    """Random cubic polynomial: a sum of terms of degrees 1, 2 and 3.

    Attributes:
        factors: For each degree, (n_terms, degree) features that a term multiplies.
        coefficients: For each degree, (n_terms,) coefficients.
        means: (3,) mean of each degree's sum over the reference documents.
        scales: (3,) divisor of each degree's sum, so that all degrees have equal variance.
        reference_values: (n_documents,) value of each reference document.
    """

    factors: tuple[Int64Array, ...]
    coefficients: tuple[Float64Array, ...]
    means: Float64Array
    scales: Float64Array
    reference_values: Float64Array

    @classmethod
    @functools.lru_cache(maxsize=8)  # training, validation and test data share a polynomial
    def draw(cls, polynomial_seed: int, n_features: int) -> "CubicPolynomial":
        """Draw terms and coefficients, and scale the parts to equal variance over a reference sample."""
        stream = random_stream(POLYNOMIAL, polynomial_seed)
        n_terms = _TERMS_PER_FEATURE * n_features
        factors = (
            np.arange(n_features, dtype=np.int64)[:, None],
            stream.integers(0, n_features, (n_terms, 2)),
            stream.integers(0, n_features, (n_terms, 3)),
        )
        coefficients = tuple(stream.standard_normal(len(terms)) for terms in factors)
        reference = np.empty((_REFERENCE_DOCUMENTS, n_features), np.float32)
        _draw_features(random_stream(REFERENCE, polynomial_seed), reference)
        parts = _parts(reference, factors, coefficients)
        means, scales = parts.mean(axis=1), parts.std(axis=1) * np.sqrt(len(_DEGREES))
        return cls(factors, coefficients, means, scales, _sum_of_parts(parts, means, scales))

    def value(self, features: Float32Array) -> Float64Array:
        """Return the value of each document, with mean 0 and variance near 1."""
        parts = _parts(features, self.factors, self.coefficients)
        return _sum_of_parts(parts, self.means, self.scales)

    def draw_rows(
        self, features: Float32Array, seed: int, noise: float
    ) -> Iterator[tuple[slice, Float64Array]]:
        """Fill `features` with uniform numbers and yield blocks of rows with the noisy value of each.

        Args:
            features: (n_documents, n_features), overwritten.
            noise: Standard deviation of normal noise, in standard deviations of the polynomial.
        """
        feature_stream, noise_stream = random_stream(FEATURES, seed), random_stream(NOISE, seed)
        for first in range(0, len(features), _BLOCK_DOCUMENTS):
            block = features[first : first + _BLOCK_DOCUMENTS]
            _draw_features(feature_stream, block)
            value = self.value(block) + noise * noise_stream.standard_normal(len(block))
            yield slice(first, first + len(block)), value

    def cuts(self, polynomial_seed: int, noise: float, shares: Sequence[float]) -> Float64Array:
        """Return the lowest value of each label above 0, given the share of each label."""
        noise_stream = random_stream(NOISE, polynomial_seed, REFERENCE)
        value = self.reference_values + noise * noise_stream.standard_normal(_REFERENCE_DOCUMENTS)
        cuts: Float64Array = np.quantile(value, np.cumsum(shares[:-1]))
        return cuts


def _parts(
    features: Float32Array, factors: Sequence[Int64Array], coefficients: Sequence[Float64Array]
) -> Float64Array:
    """Return the linear, quadratic and cubic part of each document, (3, n_documents)."""
    parts = np.empty((len(_DEGREES), len(features)))
    for first in range(0, len(features), _BLOCK_DOCUMENTS):
        block = slice(first, first + _BLOCK_DOCUMENTS)
        columns = features[block].T.astype(np.float64)
        for part, of_factors, of_coefficients in zip(parts, factors, coefficients, strict=True):
            part[block] = _sum_of_terms(columns, of_factors, of_coefficients)
    return parts


def _sum_of_parts(parts: Float64Array, means: Float64Array, scales: Float64Array) -> Float64Array:
    linear, quadratic, cubic = (parts - means[:, None]) / scales[:, None]
    value: Float64Array = linear + quadratic + cubic
    return value


def _sum_of_terms(columns: Float64Array, factors: Int64Array, coefficients: Float64Array) -> Float64Array:
    # Elementwise sums in a fixed order: the sums of a matrix product differ between machines.
    total = np.zeros(columns.shape[1])
    term = np.empty_like(total)
    for features, coefficient in zip(factors.tolist(), coefficients.tolist(), strict=True):
        np.multiply(columns[features[0]], coefficient, out=term)
        for feature in features[1:]:
            term *= columns[feature]
        total += term
    return total


def _draw_features(stream: np.random.Generator, features: Float32Array) -> None:
    stream.random(out=features, dtype=np.float32)
    features *= 2
    features -= 1


# Shares of the labels 0 to 4 in judged web search data; Burges, Ragno and Le print no shares.
LABEL_SHARES = (0.515, 0.325, 0.134, 0.018, 0.008)
GAINS_2006 = (0.0, 3.0, 7.0, 15.0, 31.0)  # of the labels 0 to 4, as printed by Burges, Ragno and Le 2006
ISTELLA_X_DOCUMENTS = 2_679  # per query on average, as printed by Marcuzzi, Lucchese and Orlando 2023
ISTELLA_X_RELEVANT_SHARE = 0.0017  # of the documents; as printed, 99.83% have the label 0


def synthetic_dataset(
    n_queries: int,
    seed: int,
    polynomial_seed: int = 0,
    documents_per_query: int = 50,
    n_features: int = 50,
    noise: float = 0.0,
    gains: Sequence[float] | None = None,
) -> RankingDataset:
    """Draw queries whose labels follow a random cubic polynomial.

    Features are uniform in [-1, 1). The polynomial has a linear term in every feature. It also has random
    products of two and of three features, twice as many of each as there are features. Coefficients are
    normal, and the linear, quadratic and cubic parts are scaled to the same variance. Labels 0 to 4 are bins
    of the polynomial's value, whose limits give `LABEL_SHARES` over a reference sample. (Burges, Ragno and
    Le 2006, section 6.3.1, with five labels in the shares of web search. The paper does not specify the
    terms.)

    The polynomial and the cuts depend on `polynomial_seed`, `n_features` and `noise` only: for
    training, validation and test data, use one polynomial and different seeds. With the same seed, a smaller
    dataset consists of the first queries of a larger one.

    Args:
        n_queries: At least 1.
        documents_per_query: At least 1.
        n_features: At least 1.
        noise: Standard deviation of normal noise on the value, in standard deviations of the polynomial.
        gains: Five increasing numbers that replace the labels 0 to 4, such as `GAINS_2006`. They are the
            gains of a metric or loss whose gain is linear. The labels 0 to 4 if None.

    Raises:
        InvalidInput: An argument is out of bounds.

    Example:
        >>> synthetic_dataset(3, seed=0).features.shape
        (150, 50)
    """
    _check(_argument_bounds(n_queries, seed, polynomial_seed, documents_per_query, n_features), noise, gains)
    polynomial = CubicPolynomial.draw(polynomial_seed, n_features)
    cuts = polynomial.cuts(polynomial_seed, noise, LABEL_SHARES)
    features = new_matrix(n_queries * documents_per_query, n_features)
    grades = np.empty(len(features), np.int64)
    for rows, value in polynomial.draw_rows(features, seed, noise):
        grades[rows] = np.searchsorted(cuts, value, side="right")
    return _dataset(features, grades, documents_per_query, gains)


def sparse_dataset(
    n_queries: int,
    seed: int,
    polynomial_seed: int = 0,
    documents_per_query: int = ISTELLA_X_DOCUMENTS,
    n_features: int = 50,
    noise: float = 0.0,
    gains: Sequence[float] | None = None,
    relevant_per_query: float | None = None,
) -> RankingDataset:
    """Draw queries with long document lists, in which nearly all documents have the label 0.

    The documents of a query with the highest values of the polynomial of `synthetic_dataset` are relevant,
    and higher values have higher labels. The labels 1 to 4 have the proportions of `LABEL_SHARES`. With the
    defaults the share of the label 0 is that of Istella-X (Marcuzzi, Lucchese and Orlando 2023, table 3).
    The features and the proportions of the other labels of Istella-X are not imitated.

    The losses of that paper differ only on queries with more relevant documents than the cutoff: set
    `relevant_per_query` to get such queries.

    Args:
        n_queries: At least 1.
        documents_per_query: At least 1.
        n_features: At least 1.
        noise: Standard deviation of normal noise on the value, in standard deviations of the polynomial.
        gains: Five increasing numbers that replace the labels 0 to 4.
        relevant_per_query: Relevant documents of a query, from 1 to `documents_per_query`. A fractional
            part is the probability of one more: 4.5 gives 4 or 5. None: 0.17% of the documents, at least 1.

    Raises:
        InvalidInput: An argument is out of bounds.

    Example:
        >>> dataset = sparse_dataset(2, seed=0, documents_per_query=100, relevant_per_query=8)
        >>> int((dataset.labels > 0).sum())
        16
    """
    bounds = _argument_bounds(n_queries, seed, polynomial_seed, documents_per_query, n_features)
    if relevant_per_query is not None:
        bounds["relevant_per_query"] = (relevant_per_query, 1, documents_per_query)
    _check(bounds, noise, gains)
    if relevant_per_query is None:
        relevant_per_query = max(1.0, ISTELLA_X_RELEVANT_SHARE * documents_per_query)
    polynomial = CubicPolynomial.draw(polynomial_seed, n_features)
    features = new_matrix(n_queries * documents_per_query, n_features)
    values = np.empty(len(features))
    for rows, value in polynomial.draw_rows(features, seed, noise):
        values[rows] = value
    lists = values.reshape(n_queries, documents_per_query)
    grades = _sparse_grades(lists, random_stream(GRADES, seed), relevant_per_query)
    return _dataset(features, grades.ravel(), documents_per_query, gains)


def _sparse_grades(
    values: Float64Array, stream: np.random.Generator, relevant_per_query: float
) -> Int64Array:
    """Return labels from 0 to 4 by polynomial values, both (n_queries, documents_per_query)."""
    grades = np.zeros(values.shape, np.int64)
    cuts = np.cumsum(LABEL_SHARES[1:]) / sum(LABEL_SHARES[1:])
    for query, value in enumerate(values):
        draws = stream.random(1 + values.shape[1])
        n_relevant = int(relevant_per_query) + (draws[0] < relevant_per_query % 1)
        best = np.argsort(-value, kind="stable")[:n_relevant]
        drawn = 1 + np.searchsorted(cuts[:-1], draws[1 : 1 + n_relevant], side="right")
        grades[query, best] = np.sort(drawn)[::-1]
    return grades


def _dataset(
    features: Float32Array, grades: Int64Array, documents_per_query: int, gains: Sequence[float] | None
) -> RankingDataset:
    n_queries = len(features) // documents_per_query
    boundaries = np.arange(n_queries + 1, dtype=np.int64) * documents_per_query
    values = np.arange(len(LABEL_SHARES)) if gains is None else np.asarray(gains)
    return RankingDataset(
        features=features,
        labels=values.astype(np.float32)[grades],
        query_boundaries=boundaries,
        query_ids=tuple(str(number) for number in range(1, n_queries + 1)),
        document_ids=row_numbers(boundaries),
        feature_names=numbered_features(features.shape[1]),
    )


def _argument_bounds(
    n_queries: int, seed: int, polynomial_seed: int, documents_per_query: int, n_features: int
) -> dict[str, tuple[float, float, float]]:
    """Return value, minimum and maximum of the arguments shared by both kinds of data."""
    return {
        "n_queries": (n_queries, 1, np.inf),
        "seed": (seed, 0, np.inf),
        "polynomial_seed": (polynomial_seed, 0, np.inf),
        "documents_per_query": (documents_per_query, 1, np.inf),
        "n_features": (n_features, 1, np.inf),
    }


def _check(
    bounds: Mapping[str, tuple[float, float, float]], noise: float, gains: Sequence[float] | None
) -> None:
    problems = [
        InputProblem(f"/{name}", f"must be at least {minimum}{_at_most(maximum)}; found {value}")
        for name, (value, minimum, maximum) in {**bounds, "noise": (noise, 0, np.inf)}.items()
        if not (minimum <= value <= maximum and value < np.inf)
    ]
    if gains is not None and not _are_gains(gains):
        expected = f"must be {len(LABEL_SHARES)} increasing numbers, at least 0 and finite"
        problems.append(InputProblem("/gains", f"{expected}; found {list(gains)}"))
    if problems:
        raise InvalidInput(*problems)


def _at_most(maximum: float) -> str:
    return f" and at most {maximum}" if maximum < np.inf else ""


def _are_gains(gains: Sequence[float]) -> bool:
    values = np.asarray(gains, np.float32)
    return values.shape == (len(LABEL_SHARES),) and bool(
        np.isfinite(values).all() and values[0] >= 0 and (np.diff(values) > 0).all()
    )
