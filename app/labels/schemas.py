"""Schemas of bulk labelling."""

from typing import Generic

from pydantic import Field

from app.http.labels import ProjectName, TagChanges
from app.http.schemas import ResponseModel
from app.lifecycle.filters import F, Selection
from core.errors import InvalidInput
from core.store.labelling import Labelling


class LabelRequest(Selection[F], Generic[F]):
    """A selection of objects to label, and their new labels: tags, a project, or both."""

    tags: TagChanges = Field(default_factory=dict)
    project: ProjectName | None = Field(
        None,
        description="Project to move the objects to; null for no project; omit it to keep the project",
        examples=["web"],
    )
    dry_run: bool = Field(True, description="Whether only to count the changes, without changing anything")

    @property
    def moves(self) -> bool:
        """Whether the request moves the objects to a project, or out of theirs."""
        return "project" in self.model_fields_set

    def check(self) -> None:
        """Check that the request has labels.

        Raises:
            InvalidInput: Neither tags nor a project are given.
        """
        if not self.tags and not self.moves:
            raise InvalidInput.at("", "must have tags, a project, or both")


class UnlabelledObject(ResponseModel):
    """An object that keeps its labels."""

    id: str = Field(examples=["mdl_01k9x3a7d5f8g2h4j6k9"])
    reason: str = Field(examples=["would result in 65 tags; the maximum is 64"])


class Labelled(ResponseModel):
    """Objects that a request labelled; in a dry run, objects that it would label."""

    dry_run: bool = Field(description="Whether nothing was changed")
    changed: int = Field(description="Number of objects that get other labels", examples=[3])
    unchanged: int = Field(description="Number of objects that have these labels already", examples=[1])
    moved_names: list[str] = Field(
        description="Names of models that move to the project, each with all of its versions",
        examples=[["web"]],
    )
    missing: list[str] = Field(description="Ids that do not exist", examples=[[]])
    refused: list[UnlabelledObject] = Field(description="The first 100 objects that keep their labels")
    refused_count: int = Field(description="Number of objects that keep their labels", examples=[0])
    complete: bool = Field(
        description="False if the request stopped after a minute; send it again for the rest"
    )

    @classmethod
    def of(cls, labelling: Labelling, *, dry_run: bool) -> "Labelled":
        """Return the response of a labelling."""
        return cls(
            dry_run=dry_run,
            changed=labelling.changed,
            unchanged=labelling.unchanged,
            moved_names=sorted(labelling.moved_names),
            missing=labelling.missing,
            refused=[UnlabelledObject.model_validate(each) for each in labelling.refused],
            refused_count=labelling.refused_count,
            complete=labelling.is_complete,
        )
