"""Synthetic documents and edge cases for linear scorers and networks."""

import numpy as np

from core.export.networks.target import Engine, NetworkSource, centres_of
from core.export.thresholds import LARGEST
from core.types import Float32Array

_DEVIATIONS = (1.0, 8.0, 1000.0)  # distances from the centre, in standard deviations of the feature
_SHARE_CHANGED, _SHARE_MISSING = 0.5, 0.3


def synthetic(source: NetworkSource, n_rows: int, random: np.random.Generator) -> Float32Array:
    """Draw documents around the means of the model's inputs."""
    inputs = source.network.inputs
    drawn = random.normal(size=(n_rows, inputs.n_features))
    if inputs.kind == "rank-gauss":
        levels = random.integers(inputs.knots.shape[1], size=drawn.shape)
        drawn = np.take_along_axis(inputs.knots.T, levels, axis=0)
    elif inputs.kind == "standard":
        drawn = inputs.means + inputs.deviations * drawn
    return _as_features(drawn, log1p=inputs.log1p)


def edge_cases(
    source: NetworkSource, engine: Engine, base: Float32Array, random: np.random.Generator
) -> Float32Array:
    """Replace features of documents by extreme values.

    Extreme values are the centre of a feature, values up to a thousand deviations from the centre, 0 and
    values close to 0. Knots and their neighbouring float32 numbers are used, too. Engines in float64 also get
    the largest float32, at which float32 engines would overflow. Engines that accept infinities get them,
    too.

    Args:
        base: (n, n_features) float32 documents.
    """
    values = _values(source, engine)
    chosen = np.take_along_axis(values, random.integers(len(values), size=base.shape), axis=0)
    changed = random.random(base.shape) < _SHARE_CHANGED
    return np.where(changed, chosen, base)


def with_missing(rows: Float32Array, random: np.random.Generator) -> Float32Array:
    """Replace random features by NaN, and all features of the last document."""
    missing = random.random(rows.shape) < _SHARE_MISSING
    missing[-1:] = True
    return np.where(missing, np.float32(np.nan), rows)


def _values(source: NetworkSource, engine: Engine) -> Float32Array:
    """Return (n_values, n_features) extreme values of each feature."""
    inputs = source.network.inputs
    deviations = inputs.deviations if inputs.kind == "standard" else np.ones(inputs.n_features)
    centres = centres_of(source.network)
    around = [centres, *(centres + sign * step * deviations for step in _DEVIATIONS for sign in (1.0, -1.0))]
    values = _as_features(np.array(around), log1p=inputs.log1p)
    smallest = np.finfo(np.float32).smallest_subnormal
    constants = [np.float32(0.0), np.float32(-0.0), smallest, -smallest, np.float32(1e-10)]
    if not engine.single:
        constants += [LARGEST, -LARGEST]
    if not engine.finite_only:
        constants += [np.float32(np.inf), np.float32(-np.inf)]
    rows = [values, np.repeat(np.array(constants, np.float32)[:, np.newaxis], inputs.n_features, axis=1)]
    if inputs.kind == "rank-gauss":
        knots = _as_features(inputs.knots.T, log1p=inputs.log1p)
        rows += [knots, *(np.nextafter(knots, np.float32(end)) for end in (-np.inf, np.inf))]
    return np.concatenate(rows)


def _as_features(values: np.ndarray, *, log1p: bool) -> Float32Array:
    """Invert log1p where set, and return values as finite float32 features."""
    if log1p:
        values = np.copysign(np.expm1(np.minimum(np.abs(values), 80.0)), values)
    features: Float32Array = np.clip(values, -float(LARGEST), float(LARGEST)).astype(np.float32)
    return features
