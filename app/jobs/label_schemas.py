"""Changes of the name, notes, tags and project of a job."""

from typing import Any

from pydantic import Field

from app.http.labels import Paragraphs, ProjectName, TagChanges
from app.http.schemas import NameForPeople, RequestModel

CHANGE_EXAMPLES: Any = {
    "describe": {
        "summary": "Set the name and one tag, and remove another tag",
        "value": {
            "name": "fewer leaves",
            "notes": "Without the week of the outage",
            "tags": {"team": "search", "draft": None},
        },
    },
    "move": {"summary": "Move a job and its results to a project", "value": {"project": "web-search"}},
}


class JobChanges(RequestModel):
    """Changes of a job's name, notes, tags and project; omitted fields stay."""

    name: NameForPeople | None = Field(
        None, description="Name of the job; null for its default title", examples=["fewer leaves"]
    )
    notes: Paragraphs | None = Field(
        None, description="Notes on the job; null for no notes", examples=["As of May"]
    )
    tags: TagChanges = Field(default_factory=dict)
    project: ProjectName | None = Field(
        None, description="Name of a project; null for no project", examples=["web-search"]
    )
