"""Artificial ranking data whose relevance is a known cubic polynomial of the features."""

from dataclasses import dataclass

import numpy as np

from core.data.dataset import RankingDataset, numbered_features
from core.data.features import new_matrix
from core.data.texts import row_numbers
from core.errors import InputProblem, InvalidInput
from core.types import Float32Array, Float64Array, Int64Array

# Shares of the labels 0 to 4 in judged web search data, which the paper imitates without printing its own.
LABEL_SHARES = (0.515, 0.325, 0.134, 0.018, 0.008)

_DEGREES = (1, 2, 3)
_TERMS_PER_FEATURE = 2  # of degree 2 and of degree 3
_REFERENCE_DOCUMENTS = 100_000  # holds the rarest label's share to 0.03 percentage points
_BLOCK_DOCUMENTS = 16_384  # a block of 50 features in float64 is 6.5 MB
_POLYNOMIAL, _REFERENCE, _FEATURES, _NOISE = range(4)  # independent random streams


def synthetic_dataset(
    n_queries: int,
    seed: int,
    polynomial_seed: int = 0,
    documents_per_query: int = 50,
    n_features: int = 50,
    noise: float = 0.0,
) -> RankingDataset:
    """Draw queries whose labels follow a random cubic polynomial.

    Features are uniform in [-1, 1). The polynomial has a linear term in every feature and random products of
    two and of three features, twice as many of each as there are features, with normal coefficients; its
    linear, quadratic and cubic parts are scaled to the same variance. Labels 0 to 4 cut its value at the
    quantiles that give `LABEL_SHARES` over a reference sample of the polynomial's own. (Burges, Ragno and Le
    2006, section 6.3.1, five labels in the shares of web search; the paper leaves the terms open.)

    The polynomial and the cuts depend on `polynomial_seed`, `n_features` and `noise` only: training,
    validation and test data come from one polynomial and different seeds. Fewer queries of the same seed are
    the first of more.

    Args:
        n_queries: At least 1.
        seed: Of the features and the noise.
        polynomial_seed: Of the polynomial.
        documents_per_query: At least 1.
        n_features: At least 1.
        noise: Standard deviation of normal noise on the value, in standard deviations of the polynomial.

    Raises:
        InvalidInput: When an argument is out of bounds.

    Example:
        >>> synthetic_dataset(3, seed=0).features.shape
        (150, 50)
    """
    _check(n_queries, seed, polynomial_seed, documents_per_query, n_features, noise)
    polynomial = _Polynomial.draw(polynomial_seed, n_features)
    cuts = polynomial.label_cuts(polynomial_seed, noise)
    n_documents = n_queries * documents_per_query
    features = new_matrix(n_documents, n_features)
    labels = np.empty(n_documents, np.float32)
    feature_stream, noise_stream = _stream(_FEATURES, seed), _stream(_NOISE, seed)
    for first in range(0, n_documents, _BLOCK_DOCUMENTS):
        block = features[first : first + _BLOCK_DOCUMENTS]
        _draw_features(feature_stream, block)
        value = polynomial.value(block) + noise * noise_stream.standard_normal(len(block))
        labels[first : first + len(block)] = np.searchsorted(cuts, value, side="right")
    boundaries = np.arange(n_queries + 1, dtype=np.int64) * documents_per_query
    return RankingDataset(
        features=features,
        labels=labels,
        query_boundaries=boundaries,
        query_ids=tuple(str(number) for number in range(1, n_queries + 1)),
        document_ids=row_numbers(boundaries),
        feature_names=numbered_features(n_features),
    )


@dataclass(frozen=True, eq=False)
class _Polynomial:
    """Per degree, the features and coefficient of each term; and the mean and scale of each degree's part."""

    factors: tuple[Int64Array, ...]
    coefficients: tuple[Float64Array, ...]
    means: Float64Array
    scales: Float64Array
    reference: Float32Array

    @classmethod
    def draw(cls, polynomial_seed: int, n_features: int) -> "_Polynomial":
        stream = _stream(_POLYNOMIAL, polynomial_seed)
        n_terms = _TERMS_PER_FEATURE * n_features
        factors = (
            np.arange(n_features, dtype=np.int64)[:, None],
            stream.integers(0, n_features, (n_terms, 2)),
            stream.integers(0, n_features, (n_terms, 3)),
        )
        coefficients = tuple(stream.standard_normal(len(terms)) for terms in factors)
        reference = np.empty((_REFERENCE_DOCUMENTS, n_features), np.float32)
        _draw_features(_stream(_REFERENCE, polynomial_seed), reference)
        raw = cls(factors, coefficients, np.zeros(3), np.ones(3), reference)
        parts = raw.parts(reference)
        scales = parts.std(axis=1) * np.sqrt(len(_DEGREES))
        return cls(factors, coefficients, parts.mean(axis=1), scales, reference)

    def parts(self, features: Float32Array) -> Float64Array:
        """The linear, quadratic and cubic part of each document, (3, n_documents)."""
        parts = np.empty((len(_DEGREES), len(features)))
        for first in range(0, len(features), _BLOCK_DOCUMENTS):
            columns = features[first : first + _BLOCK_DOCUMENTS].T.astype(np.float64)
            for degree, (factors, coefficients) in enumerate(
                zip(self.factors, self.coefficients, strict=True)
            ):
                parts[degree, first : first + _BLOCK_DOCUMENTS] = _sum_of_terms(
                    columns, factors, coefficients
                )
        return parts

    def value(self, features: Float32Array) -> Float64Array:
        """The polynomial of each document, with mean 0 and variance near 1."""
        linear, quadratic, cubic = (self.parts(features) - self.means[:, None]) / self.scales[:, None]
        value: Float64Array = linear + quadratic + cubic
        return value

    def label_cuts(self, polynomial_seed: int, noise: float) -> Float64Array:
        """The values at which the labels 1, 2, 3 and 4 begin."""
        noise_stream = _stream(_NOISE, polynomial_seed, _REFERENCE)
        value = self.value(self.reference) + noise * noise_stream.standard_normal(len(self.reference))
        cuts: Float64Array = np.quantile(value, np.cumsum(LABEL_SHARES[:-1]))
        return cuts


def _sum_of_terms(columns: Float64Array, factors: Int64Array, coefficients: Float64Array) -> Float64Array:
    # Elementwise in a fixed order, not a matrix product, whose sums differ between machines.
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


def _stream(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)


def _check(
    n_queries: int, seed: int, polynomial_seed: int, documents_per_query: int, n_features: int, noise: float
) -> None:
    bounds = {
        "n_queries": (n_queries, 1),
        "seed": (seed, 0),
        "polynomial_seed": (polynomial_seed, 0),
        "documents_per_query": (documents_per_query, 1),
        "n_features": (n_features, 1),
        "noise": (noise, 0),
    }
    problems = [
        InputProblem(f"/{name}", f"must be at least {least}; found {value}")
        for name, (value, least) in bounds.items()
        if not least <= value < float("inf")
    ]
    if problems:
        raise InvalidInput(*problems)
