"""Random cubic polynomials of features: the hidden functions of artificial ranking data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

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
        reference: (n_documents, n_features) reference documents.
    """

    factors: tuple[Int64Array, ...]
    coefficients: tuple[Float64Array, ...]
    means: Float64Array
    scales: Float64Array
    reference: Float32Array

    @classmethod
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
        raw = cls(factors, coefficients, np.zeros(3), np.ones(3), reference)
        parts = raw.parts(reference)
        scales = parts.std(axis=1) * np.sqrt(len(_DEGREES))
        return cls(factors, coefficients, parts.mean(axis=1), scales, reference)

    def parts(self, features: Float32Array) -> Float64Array:
        """Return the linear, quadratic and cubic part of each document, (3, n_documents)."""
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
        """Return the value of each document, with mean 0 and variance near 1."""
        linear, quadratic, cubic = (self.parts(features) - self.means[:, None]) / self.scales[:, None]
        value: Float64Array = linear + quadratic + cubic
        return value

    def draw_rows(
        self, features: Float32Array, seed: int, noise: float
    ) -> Iterator[tuple[slice, Float64Array]]:
        """Fill `features` with uniform numbers and yield blocks of rows with the noisy value of each.

        Args:
            features: (n_documents, n_features), overwritten.
            seed: Seed of the features and the noise.
            noise: Standard deviation of normal noise, in standard deviations of the polynomial.
        """
        feature_stream, noise_stream = random_stream(FEATURES, seed), random_stream(NOISE, seed)
        for first in range(0, len(features), _BLOCK_DOCUMENTS):
            block = features[first : first + _BLOCK_DOCUMENTS]
            _draw_features(feature_stream, block)
            value = self.value(block) + noise * noise_stream.standard_normal(len(block))
            yield slice(first, first + len(block)), value

    def cuts(self, polynomial_seed: int, noise: float, shares: Sequence[float]) -> Float64Array:
        """Return the lowest value of each grade above 0, given the share of each grade."""
        noise_stream = random_stream(NOISE, polynomial_seed, REFERENCE)
        value = self.value(self.reference) + noise * noise_stream.standard_normal(len(self.reference))
        cuts: Float64Array = np.quantile(value, np.cumsum(shares[:-1]))
        return cuts


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
