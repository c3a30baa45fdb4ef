"""Labels of objects in requests and responses: tags, notes and projects, not relevance labels."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator, BeforeValidator, Field

from core.errors import InputProblem
from core.names import INVISIBLE
from core.store.repositories.projects import MAX_TAGS, PROJECT_NAME, PROJECT_RULE, is_project_name
from core.store.visibility import NO_PROJECT

TAG_NAME = r"[a-z0-9][a-z0-9._/-]{0,63}"
ONE_LINE = rf"[^{INVISIBLE}]*"
TagName = Annotated[str, Field(pattern=f"^{TAG_NAME}$")]
TagValue = Annotated[str, Field(max_length=256, pattern=f"^{ONE_LINE}$")]
_NO_OTHER_TAGS: Any = {"additionalProperties": False}  # the pattern alone does not forbid other names
Tags = Annotated[dict[TagName, TagValue], Field(max_length=MAX_TAGS, json_schema_extra=_NO_OTHER_TAGS)]
TagChanges = Annotated[
    dict[TagName, TagValue | None],
    Field(
        max_length=MAX_TAGS,
        json_schema_extra=_NO_OTHER_TAGS,
        description="Tags to set; a null value removes the tag, and all other tags stay",
        examples=[{"team": "search", "draft": None}],
    ),
]
# Tags of a row, where null means none.
ShownTags = Annotated[
    dict[str, str],
    BeforeValidator(lambda tags: {} if tags is None else tags),
    Field(description="Tags of the object", examples=[{"team": "search"}]),
]
_TAG_FILTER = rf"^{TAG_NAME}(:{ONE_LINE})?$"


def _tag_filter(text: str) -> str:
    if not re.fullmatch(_TAG_FILTER, text):
        raise ValueError(
            "must be the name of a tag, such as team, or a name and a value, such as team:search;"
            " names have lower-case letters, digits and the characters . _ / -"
        )
    return text


TagFilter = Annotated[
    str, Field(max_length=400, json_schema_extra={"pattern": _TAG_FILTER}), AfterValidator(_tag_filter)
]
TagFilters = Annotated[
    list[TagFilter],
    Query(
        max_length=8,
        description="Only items with this tag: `team` for any value, or `team:search` for one value",
    ),
]


def tag_filters(tags: Sequence[str]) -> list[tuple[str, str | None]]:
    """Return names of tags with the value that each must have, None for any value."""
    parts = (tag.partition(":") for tag in tags)
    return [(name, value if colon else None) for name, colon, value in parts]


def _project_name(name: str) -> str:
    if not is_project_name(name):
        raise ValueError(PROJECT_RULE)
    return name


ProjectName = Annotated[
    str,
    Field(json_schema_extra={"pattern": PROJECT_NAME}, examples=["web"]),
    AfterValidator(_project_name),
]
NewProject = Annotated[
    ProjectName | None,
    Field(
        description="Project of the new object; by default that of its model's name, its teacher, its dataset"
        " or its click log, or else the only project of the API key"
    ),
]
# Schema of the form field `project` in a multipart body.
PROJECT_PART = {
    "type": "string",
    "pattern": PROJECT_NAME,
    "description": "Project of the new object; by default the project of its dataset or its model's name, or"
    " else the only project of the API key",
}


def project_problems(fields: Mapping[str, str]) -> list[InputProblem]:
    """Return the problems of the project among the text fields of an upload."""
    fits = "project" not in fields or is_project_name(fields["project"])
    return [] if fits else [InputProblem("/project", PROJECT_RULE)]


def _project_filter(name: str) -> str:
    return name if name == NO_PROJECT else _project_name(name)


PROJECT_FILTER = "Only items of this project; `-` for items without a project"
ProjectFilterName = Annotated[
    str,
    Field(json_schema_extra={"pattern": f"{PROJECT_NAME}|^{NO_PROJECT}$"}, examples=["web"]),
    AfterValidator(_project_filter),
]
ProjectFilter = Annotated[ProjectFilterName | None, Query(description=PROJECT_FILTER)]
ShownProject = Annotated[
    str | None, Field(description="Project of the object; null for none", examples=["web"])
]
# A text of several lines, such as notes on a job.
MULTILINE_PATTERN = rf"^([^{INVISIBLE}]|[\t\n\r])*$"
MAX_MULTILINE_LENGTH = 4000
MultilineText = Annotated[str, Field(max_length=MAX_MULTILINE_LENGTH, pattern=MULTILINE_PATTERN)]
