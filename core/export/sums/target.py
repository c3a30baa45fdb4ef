"""The interface of formats for sums, which combine members in the format of each member's kind."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from core.errors import ModelError
from core.export.networks.target import Engine, NetworkSource, NetworkTarget
from core.export.nodes import Nodes, require_same_shape
from core.export.target import Source, Target
from core.export.tree_target import Arithmetic, TreeSource, TreeTarget, inexpressible_part, scores_of
from core.scorers import Member, Network, Sum, TreeModel
from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.types import Float32Array, Float64Array, Int64Array


@dataclass(frozen=True)
class Part:
    """A member of a sum to export.

    Attributes:
        columns: (n_features of the member,) columns of the member's features in the sum.
        source: Model of the member, with feature names in the engine.
    """

    member: Member
    columns: Int64Array
    source: TreeSource | NetworkSource


@dataclass(frozen=True, kw_only=True)
class SumSource(Source):
    """A sum of models to export."""

    sum_model: Sum

    @property
    def model(self) -> Sum:
        """Return the sum."""
        return self.sum_model

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Return the members; their names in the engine end with their numbers, from 1."""
        return tuple(
            Part(member, columns, self._source_of(number, member, columns))
            for number, (member, columns) in enumerate(self.sum_model.parts, start=1)
        )

    def _source_of(self, number: int, member: Member, columns: Int64Array) -> TreeSource | NetworkSource:
        common: dict[str, Any] = {
            "content": member.content,
            "name": f"{self.name}-{number}",
            "features": tuple(self.features[column] for column in columns.tolist()),
            "options": self.options,
        }
        model = member.model
        if isinstance(model, TreeModel):
            return TreeSource(text=model.text, precision=member.precision, **common)
        if isinstance(model, Network):
            return NetworkSource(network=model, **common)
        raise TypeError(type(model))


@dataclass(frozen=True)
class WrittenMember:
    """A member as read back from the file of a sum.

    Attributes:
        columns: Columns of the member's features in the sum, in the member's order.
    """

    content: bytes
    weight: float
    columns: tuple[int, ...]


@dataclass(frozen=True)
class LoadedTrees:
    """The trees of a member with the numbers that an engine loads."""

    source: TreeSource
    nodes: Nodes
    arithmetic: Arithmetic


@dataclass(frozen=True)
class SumEngine(Engine):
    """A simulation of the engine that reads the file of a sum.

    Attributes:
        trees: The members that are trees.
    """

    trees: tuple[LoadedTrees, ...]


class SumTarget(Target[SumSource]):
    """A format of sums.

    Attributes:
        of_trees: The format of members that are trees.
        of_networks: The format of members that are linear scorers or networks.
    """

    of_trees: ClassVar[TreeTarget]
    of_networks: ClassVar[NetworkTarget]

    def of_network(self, source: NetworkSource) -> NetworkTarget:
        """Return the format of a member that is a linear scorer or a network."""
        return self.of_networks

    def check(self, source: SumSource) -> None:
        """Refuse a sum with a member that the format cannot express.

        Raises:
            ModelError: The format cannot express a member.
        """
        for part in source.parts:
            try:
                if isinstance(part.source, TreeSource):
                    self.of_trees.check(part.source)
                else:
                    self.of_network(part.source).check(part.source)
            except ModelError as error:
                raise ModelError(f"member {part.member.reference!r} of the sum: {error}") from error

    @abstractmethod
    def engines(self, content: bytes, source: SumSource) -> tuple[SumEngine, ...]:
        """Read the file and return its engines; the first engine gives the golden scores.

        Raises:
            ModelError: The file has other members than the sum.
        """


class MembersTarget(SumTarget):
    """A format whose file contains the files of the members."""

    @abstractmethod
    def read(self, content: bytes, source: SumSource) -> list[WrittenMember]:
        """Extract the members from the file."""

    def engines(self, content: bytes, source: SumSource) -> tuple[SumEngine, ...]:
        """Read the members, and return engines that sum their scores as the file does."""
        written = self.read(content, source)
        if len(written) != len(source.parts):
            raise ModelError("the number of members in the export differs from the sum's")
        members = [
            self._read_member(member, part.source) for member, part in zip(written, source.parts, strict=True)
        ]
        names = [self.reader]
        if max(map(len, members)) > 1:
            names = [arithmetic.engine for arithmetic in self.of_trees.arithmetics(source.options)]
        return tuple(
            self._engine(name, written, [engines[min(index, len(engines) - 1)] for engines in members])
            for index, name in enumerate(names)
        )

    def _read_member(
        self, written: WrittenMember, source: TreeSource | NetworkSource
    ) -> list[tuple[Engine, LoadedTrees | None]]:
        if isinstance(source, NetworkSource):
            engines = self.of_network(source).engines(written.content, source)
            return [(engine, None) for engine in engines]
        if inexpressible_part(source.text):
            forest = Forest(ModelText.read(written.content))
            # A linear leaf multiplies features, so that an infinite one gives no finite score.
            finite = any(tree.linear is not None for tree in source.text.trees)
            return [
                (
                    Engine(
                        self.reader, "LightGBM's own", single=False, finite_only=finite, score=forest.score
                    ),
                    None,
                )
            ]
        nodes = self.of_trees.read(written.content, source)
        loaded = loaded_trees(self.of_trees, source, nodes)
        return [(_engine_of(trees), trees) for trees in loaded]

    def _engine(
        self, name: str, written: list[WrittenMember], members: list[tuple[Engine, LoadedTrees | None]]
    ) -> SumEngine:
        trees = [loaded for _, loaded in members if loaded is not None]
        terms = [
            (member.weight, np.array(member.columns, np.int64), engine.score)
            for member, (engine, _) in zip(written, members, strict=True)
        ]
        return SumEngine(
            name,
            describe_arithmetics(engine.arithmetic for engine, _ in members),
            single=False,
            finite_only=any(engine.finite_only for engine, _ in members),
            score=lambda rows: _sum_of(terms, rows),
            trees=tuple(trees),
        )


def loaded_trees(target: TreeTarget, source: TreeSource, nodes: Nodes) -> list[LoadedTrees]:
    """Return the trees of a member as each engine of a format loads them.

    Raises:
        ModelError: The written trees differ from the member's.
    """
    require_same_shape(source.nodes, nodes)
    return [
        LoadedTrees(source, arithmetic.loaded(nodes), arithmetic)
        for arithmetic in target.arithmetics(source.options)
    ]


def describe_arithmetics(arithmetics: Iterable[str]) -> str:
    """Return a description of the arithmetic of a sum, from those of its members without duplicates."""
    return "; ".join((*dict.fromkeys(arithmetics), "members weighted and added in float64"))


def _engine_of(trees: LoadedTrees) -> Engine:
    arithmetic = trees.arithmetic

    def score(rows: Float32Array) -> Float64Array:
        return scores_of(rows, trees.source.nodes, trees.nodes, arithmetic)[1]

    return Engine(
        arithmetic.engine,
        arithmetic.description,
        single=arithmetic.single,
        finite_only=arithmetic.finite_only,
        score=score,
    )


def _sum_of(
    terms: list[tuple[float, Int64Array, Callable[[Float32Array], Float64Array]]], rows: Float32Array
) -> Float64Array:
    total = np.zeros(len(rows))
    for weight, columns, score in terms:
        total += weight * score(np.ascontiguousarray(rows[:, columns]))
    return total
