"""Exports of linear scorers, networks and sums, which are compared by their scores."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from core.export.networks.cases import edge_cases, synthetic
from core.export.networks.rounding import DOUBLE, SINGLE, rounding_bounds
from core.export.networks.target import Engine, NetworkSource, NetworkTarget
from core.export.parity_report import NeighbourParity
from core.export.target import Export, Target
from core.types import Float32Array, Float64Array

E = TypeVar("E", bound=Engine)


class ScoredExport(Export, Generic[E]):
    """An exported model whose scores are compared within rounding errors."""

    @property
    @abstractmethod
    def engines(self) -> tuple[E, ...]:
        """Return the engines of the file, which is read back; the first engine gives the golden scores."""

    @property
    def n_trees(self) -> int:
        """Return the number of trees."""
        return 0

    @abstractmethod
    def synthetic(self, n_rows: int, random: np.random.Generator) -> Float32Array:
        """Draw documents, (n_rows, n_features), like those that the model was trained on."""

    @abstractmethod
    def edge_cases(self, engine: E, base: Float32Array, random: np.random.Generator) -> Float32Array:
        """Replace features of documents, (n, n_features), by extreme values for the engine."""

    @abstractmethod
    def rounding_bounds(self, engine: E, rows: Float32Array) -> Float64Array:
        """Return the bound of the rounding error of each document's score in the engine."""

    def neighbours(self, engine: E) -> NeighbourParity:
        """Compare the decisions of trees in the engine; the default is for models without trees."""
        return NeighbourParity(0, 0, 0, 0, ())

    def notes(self) -> list[str]:
        """Return notes on limits of the comparison of documents; the default is for models without trees."""
        return []


@dataclass(frozen=True)
class NetworkExport(ScoredExport[Engine]):
    """An exported linear scorer or network."""

    target: NetworkTarget
    source: NetworkSource

    @cached_property
    def engines(self) -> tuple[Engine, ...]:
        """Return the engines of the file, which is read back."""
        return self.target.engines(self.content, self.source)

    def synthetic(self, n_rows: int, random: np.random.Generator) -> Float32Array:
        """Draw documents around the means of the inputs."""
        return synthetic(self.source, n_rows, random)

    def edge_cases(self, engine: Engine, base: Float32Array, random: np.random.Generator) -> Float32Array:
        """Replace features of documents by extreme values; see `core.export.networks.cases`."""
        return edge_cases(self.source, engine, base, random)

    def rounding_bounds(self, engine: Engine, rows: Float32Array) -> Float64Array:
        """Return the bound of the rounding error of each score; see `core.export.networks.rounding`."""
        return rounding_bounds(self.source.network, rows, SINGLE if engine.single else DOUBLE)


def export_network(target: Target[Any], source: NetworkSource) -> NetworkExport:
    """Export a linear scorer or a network.

    Raises:
        ModelError: The format cannot express the model.
    """
    if not isinstance(target, NetworkTarget):
        raise TypeError(target)
    target.check(source)
    source = replace(source, shift=target.shift_of(source))
    return NetworkExport(target, source, target.write(source))
