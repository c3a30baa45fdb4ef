"""The interface of export formats: write a model for an engine, with instructions and notes for users."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from core.export.options import ExportOptions
from core.scorers import ScoringModel


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """A model on its way out.

    Attributes:
        content: The stored file.
        name: What the engine is to call the model.
        features: What the engine is to call the features, in the model's order.
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
        """Return what scores documents."""

    @property
    def feature_set(self) -> str:
        """The feature set or store in the engine."""
        return self.options.feature_set or "rankery"


S = TypeVar("S", bound=Source)


class Target(ABC, Generic[S]):
    """A format for one kind of model; a file of this folder holds those of one engine or language.

    Attributes:
        name: As users write it.
        filename: Name of the file.
        media_type: Its media type.
        reader: Which programs read it.
        summary: One line.
        options: The options of `ExportOptions` that it takes.
        limits: What it cannot express, in words.
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
        """Say in Markdown how the file gets into the engine, and how to replay the golden vectors there."""

    def companions(self, source: S, content: bytes) -> Mapping[str, bytes]:
        """Return what an archive holds beside the file, by file name."""
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
