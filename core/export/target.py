"""The interface of export formats: model file, instructions and notes for users."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from core.export.options import ExportOptions
from core.scorers import ScoringModel


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """A model to export.

    Attributes:
        features: Names of the features in the engine, in the model's order.
        shift: Constant added to all scores, or None.
    """

    content: bytes
    name: str
    features: tuple[str, ...]
    options: ExportOptions
    shift: float | None = None

    @property
    @abstractmethod
    def model(self) -> ScoringModel:
        """Return the model."""

    @property
    def feature_set(self) -> str:
        """Return the name of the feature set or feature store in the engine."""
        return self.options.feature_set or "rankery"

    @cached_property
    def columns(self) -> dict[str, int]:
        """Return the column of each feature by its name in the engine."""
        return {name: column for column, name in enumerate(self.features)}


AnySource = TypeVar("AnySource", bound=Source)


class Target(ABC, Generic[AnySource]):
    """A format for one kind of model, such as forests.

    Attributes:
        reader: Programs that read the file.
        options: Supported options of `ExportOptions`.
        limits: Descriptions of models that the format cannot express.
    """

    name: ClassVar[str]
    filename: ClassVar[str]
    media_type: ClassVar[str]
    reader: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[frozenset[str]]
    limits: ClassVar[tuple[str, ...]]

    def check(self, source: AnySource) -> None:
        """Refuse a model that the format cannot express; the default accepts every model.

        Raises:
            ModelError: The format cannot express the model.
        """

    @abstractmethod
    def write(self, source: AnySource) -> bytes:
        """Write the file.

        Raises:
            ModelError: The format cannot express the model.
        """

    @abstractmethod
    def instructions(self, source: AnySource) -> str:
        """Return Markdown that loads the file into the engine and replays the golden vectors there."""

    def companions(self, source: AnySource, content: bytes) -> Mapping[str, bytes]:
        """Return the additional files of the archive by name."""
        return {}

    def notes(self, source: AnySource, content: bytes) -> list[str]:
        """Return notes for users of this export."""
        return []


@dataclass(frozen=True)
class Export:
    """An exported model."""

    target: Target[Any]
    source: Source
    content: bytes
