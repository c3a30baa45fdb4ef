"""Families of random ranking data for the benchmark of automatic trainings."""

from collections.abc import Callable, Mapping

import numpy as np

from core.data import RankingDataset, sparse_dataset, synthetic_dataset
from core.types import Float64Array

Family = Callable[[int, int], RankingDataset]
_DOCUMENTS = 20  # of each query
_WEIGHTS_SEED = 10_000  # training and test data have the same weights or thresholds
_SHARES = (0.55, 0.8, 0.92, 0.98)  # of documents with labels below 1, 2, 3 and 4


def _linear(queries: int, seed: int) -> RankingDataset:
    """Draw labels that follow a weighted sum of 20 features, with twice as much noise as signal."""
    generator = np.random.default_rng(seed)
    weights = np.random.default_rng(_WEIGHTS_SEED).normal(size=20)
    features = generator.normal(size=(queries * _DOCUMENTS, 20))
    value = features @ weights / np.linalg.norm(weights) + 2.0 * generator.normal(size=len(features))
    return _graded(features, value)


def _wrong_labels(queries: int, seed: int) -> RankingDataset:
    """Draw from the linear family, and replace a third of the labels by random ones."""
    dataset = _linear(queries, seed)
    generator = np.random.default_rng([seed, 1])
    wrong = generator.uniform(size=dataset.n_documents) < 1.0 / 3.0
    labels = np.where(wrong, generator.permutation(dataset.labels), dataset.labels)
    return RankingDataset.from_arrays(dataset.features, labels, dataset.query_boundaries)


def _counts(queries: int, seed: int) -> RankingDataset:
    """Draw heavy-tailed counts, half of them 0, scaled by query; labels follow their logarithms."""
    generator = np.random.default_rng(seed)
    scale = np.repeat(generator.lognormal(0.0, 1.0, size=(queries, 1)), _DOCUMENTS, axis=0)
    drawn = generator.lognormal(0.0, 1.5, size=(queries * _DOCUMENTS, 40))
    features = np.floor(drawn * scale * (generator.uniform(size=drawn.shape) < 0.5))
    weights = np.random.default_rng(_WEIGHTS_SEED).exponential(size=40) ** 2
    logs = np.log1p(features) @ weights / np.linalg.norm(weights)
    return _graded(features, logs + 1.5 * generator.normal(size=len(features)))


def _steps(queries: int, seed: int) -> RankingDataset:
    """Draw labels by the number of thresholds that 6 of 30 features pass, which suits trees."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(queries * _DOCUMENTS, 30))
    thresholds = np.random.default_rng(_WEIGHTS_SEED).normal(0.0, 0.7, size=6)
    passed = (features[:, :6] > thresholds).sum(axis=1)
    return _graded(features, passed + generator.normal(size=len(features)))


def _one_answer(queries: int, seed: int) -> RankingDataset:
    """Draw one relevant document of 20, by a strong feature, five weak ones and one product."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(queries * _DOCUMENTS, 24))
    value = features[:, 0] + 0.3 * features[:, 1:6].sum(axis=1) + 0.5 * features[:, 6] * features[:, 7]
    value += generator.normal(size=len(features))
    best = value.reshape(queries, _DOCUMENTS).argmax(axis=1)
    labels = np.zeros((queries, _DOCUMENTS))
    labels[np.arange(queries), best] = 1.0
    return _dataset(features, labels.ravel())


def _embeddings(queries: int, seed: int) -> RankingDataset:
    """Draw labels by the dot product of two embeddings of 16 numbers, which are the features."""
    generator = np.random.default_rng(seed)
    query = np.repeat(generator.normal(size=(queries, 16)), _DOCUMENTS, axis=0)
    documents = generator.normal(size=(queries * _DOCUMENTS, 16))
    value = (query * documents).sum(axis=1) / 4.0 + generator.normal(size=len(documents))
    return _graded(np.hstack([query, documents]), value)


def _graded(features: Float64Array, value: Float64Array) -> RankingDataset:
    return _dataset(features, np.searchsorted(np.quantile(value, _SHARES), value))


def _dataset(features: Float64Array, labels: np.ndarray) -> RankingDataset:
    boundaries = np.arange(0, len(labels) + 1, _DOCUMENTS)
    return RankingDataset.from_arrays(features.astype(np.float32), labels.astype(np.float32), boundaries)


def _cubic(queries: int, seed: int, noise: float) -> RankingDataset:
    return synthetic_dataset(queries, seed, 7, _DOCUMENTS, 30, noise)


FAMILIES: Mapping[str, Family] = {
    "linear": _linear,
    "wrong labels": _wrong_labels,
    "counts": _counts,
    "steps": _steps,
    "one answer": _one_answer,
    "cubic": lambda queries, seed: _cubic(queries, seed, 0.5),
    "cubic, noisy": lambda queries, seed: _cubic(queries, seed, 2.0),
    "embeddings": _embeddings,
    "sparse": lambda queries, seed: sparse_dataset(queries, seed, 7, 60, 30, 0.5, relevant_per_query=4),
}
