"""The interface of export formats: write a model for an engine, with instructions and notes for users."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from core.export.options import ExportOptions
from core.scorers import ScoringModel


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """A model to export.

    Attributes:
        content: The stored file.
        name: Name of the model in the engine.
        features: Names of the features in the engine, in the model's order.
        options: Options of the export.
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
        """The model."""

    @property
    def feature_set(self) -> str:
        """The feature set or store in the engine."""
        return self.options.feature_set or "rankery"


S = TypeVar("S", bound=Source)


class Target(ABC, Generic[S]):
    """A format for one kind of model; a file of this folder holds the formats of one engine or language.

    Attributes:
        name: Name of the format in requests.
        filename: Name of the file.
        media_type: Media type of the file.
        reader: Programs that read it.
        summary: Summary of one line.
        options: Options of `ExportOptions` that it takes.
        limits: Descriptions of models that it cannot express.
    """

    name: ClassVar[str]
    filename: ClassVar[str]
    media_type: ClassVar[str]
    reader: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[frozenset[str]]
    limits: ClassVar[tuple[str, ...]]

    def check(self, source: S) -> None:
        """Refuse a model that the format cannot express; here none.

        Raises:
            ModelError: It cannot.
        """

    @abstractmethod
    def write(self, source: S) -> bytes:
        """Write the file.

        Raises:
            ModelError: The format cannot express the model.
        """

    @abstractmethod
    def instructions(self, source: S) -> str:
        """Return Markdown that loads the file into the engine and replays the golden vectors there."""

    def companions(self, source: S, content: bytes) -> Mapping[str, bytes]:
        """Return the further files of an archive, by name."""
        return {}

    def notes(self, source: S, content: bytes) -> list[str]:
        """Return notes for users of this export."""
        return []


@dataclass(frozen=True)
class Export:
    """A model in the form that another program reads.

    Attributes:
        target: The format.
        source: What was written.
        content: The file.
    """

    target: Target[Any]
    source: Source
    content: bytes
