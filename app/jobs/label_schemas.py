"""Changes of the name, notes, tags and project of a job."""

from typing import Any

from pydantic import Field

from app.http.labels import Paragraphs, ProjectName, TagChanges
from app.http.schemas import NameForPeople, RequestModel

CHANGE_EXAMPLES: Any = {
    "describe": {
        "summary": "Name it, set one tag and take another away",
        "value": {
            "name": "fewer leaves",
            "notes": "Without the week of the outage",
            "tags": {"team": "search", "draft": None},
        },
    },
    "move": {"summary": "Move it, with its results, to a project", "value": {"project": "web-search"}},
}


class JobChanges(RequestModel):
    """Changes of a job's name, notes, tags and project; omitted fields stay."""

    name: NameForPeople | None = Field(
        None, description="Null to show what the job makes or measures", examples=["fewer leaves"]
    )
    notes: Paragraphs | None = Field(None, description="Null for none", examples=["As of May"])
    tags: TagChanges = Field(default_factory=dict)
    project: ProjectName | None = Field(None, description="Null for none", examples=["web-search"])
