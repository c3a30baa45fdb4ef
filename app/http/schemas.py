"""Base schemas: strict requests, pages, ids and names."""

import re
from collections.abc import Mapping
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from types import MappingProxyType
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from core.names import INVISIBLE, is_visible
from core.store import MODEL_NAME, MODEL_NAME_RULE

MAX_PAGE = 200


class RequestModel(BaseModel):
    """Base of request schemas: no unknown fields, no coercion of types, no NaN or infinity."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class ResponseModel(BaseModel):
    """Base of response schemas, read from the attributes of a stored row."""

    model_config = ConfigDict(from_attributes=True)


def example(*values: "Json") -> ConfigDict:
    """Return the configuration of a model with examples of its JSON."""
    return ConfigDict(json_schema_extra={"examples": [*values]})


def optional_text(description: str, example: str) -> Any:
    """Declare a text field that the response omits where it is null."""
    return Field(None, description=description, examples=[example], exclude_if=lambda text: text is None)


class ProblemCause(ResponseModel):
    """All problems of a table with the same cause and column."""

    model_config = ConfigDict(extra="allow")

    cause: str = Field(examples=["not_a_number"])
    title: str = Field(description="Description of the cause", examples=["Not a number"])
    column: str | None = Field(
        None, description="Column of the problems; null for problems of whole rows", examples=["price"]
    )
    count: int = Field(description="Number of problems", examples=[1240])
    at_least: bool = Field(False, description="Whether `count` is a lower bound, since reading stopped early")
    lines: list[int] = Field(
        default_factory=list,
        description="Numbers of the lines of the first problems, or of the rows of a Parquet file",
        examples=[[3, 9]],
    )
    texts: list[str] = Field(
        default_factory=list, description="Examples of invalid texts", examples=[["n/a"]]
    )
    can_ignore: bool = Field(
        False, description="Whether the upload may be read again without the column", examples=[True]
    )


class FailureReason(ResponseModel):
    """The reason why a job failed or a dataset is invalid."""

    model_config = ConfigDict(extra="allow")

    title: str = Field(description="Short summary", examples=["The dataset cannot be read"])
    detail: str | None = Field(None, description="Details of the failure", examples=["line 7, column 3: …"])
    errors: list[dict[str, Any]] | None = Field(
        None,
        description="Errors with their position: `file`, `line`, `column`, `text`, `detail`, and `unit`,"
        " which is `row` if `line` counts the rows of a Parquet file",
        exclude_if=lambda errors: errors is None,
    )
    causes: list[ProblemCause] | None = Field(
        None,
        description="Errors of a table that cannot be read, by cause and column, the most frequent first",
        exclude_if=lambda causes: causes is None,
    )


def _model_name(name: str) -> str:
    if not re.fullmatch(MODEL_NAME, name) or "\n" in name:
        raise ValueError(MODEL_NAME_RULE)
    if name.startswith("mdl_"):
        raise ValueError("must not start with mdl_, which marks ids")
    return name


# Ids and references have only printable ASCII; PostgreSQL refuses NUL in text.
PRINTABLE = r"^[ -~]+$"
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)


def _rfc3339(value: Any) -> Any:
    """Require a text with date, time and zone in the format of RFC 3339."""
    # pydantic alone would accept numbers, and texts of numbers, as seconds since 1970.
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return value
    raise ValueError("must be a date and time with its zone, such as 2100-01-01T00:00:00Z")


def _in_utc(moment: datetime) -> datetime:
    """Return a moment in UTC, as the database stores it; refuse the first and the last year of `datetime`."""
    if not MINYEAR < moment.year < MAXYEAR:
        raise ValueError(f"must be between the years {MINYEAR + 1} and {MAXYEAR - 1}")
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, Field(strict=False), BeforeValidator(_rfc3339), AfterValidator(_in_utc)]
Id = Annotated[str, Field(max_length=64, pattern=PRINTABLE)]
ModelReference = Annotated[
    str,
    Field(
        max_length=200,
        pattern=PRINTABLE,
        description="`mdl_…` id, `name` (its latest version), `name:version` or `name@alias`",
        examples=["web@champion"],
    ),
]
ModelName = Annotated[
    str,
    Field(
        description="Lower case letters, digits, `.`, `_` and `-`; each training adds a version to the name",
        examples=["web"],
        json_schema_extra={"pattern": MODEL_NAME},
    ),
    AfterValidator(_model_name),
]


def _visible(name: str) -> str:
    if not is_visible(name):
        raise ValueError("must not contain control or invisible characters")
    if not name.strip():
        raise ValueError("must not be blank")
    return name


_VISIBLE_PATTERN = rf"^(?=.*\S)[^{INVISIBLE}]+$"


# Display names in lists, logs and terminals.
VisibleText = Annotated[
    str,
    Field(min_length=1, max_length=200, json_schema_extra={"pattern": _VISIBLE_PATTERN}),
    AfterValidator(_visible),
]
# Schemas of the fields of an upload form: a file and a display name.
FILE_PART: Mapping[str, Any] = MappingProxyType({"type": "string", "format": "binary", "minLength": 1})
NAME_PART: Mapping[str, Any] = MappingProxyType(
    {"type": "string", "minLength": 1, "maxLength": 200, "pattern": _VISIBLE_PATTERN}
)
DisplayName = Annotated[VisibleText, Field(description="Display name; need not be unique")]
Json = dict[str, Any]
NextCursor = Annotated[
    str | None,
    Field(description="Value of `cursor` for the next page; null on the last page", examples=[None]),
]


def distinct(noun: str) -> AfterValidator:
    """Return the validator of a list without repetitions; its error calls an item by the noun."""

    def check(names: list[str]) -> list[str]:
        if len(set(names)) < len(names):
            raise ValueError(f"must name each {noun} once")
        return names

    return AfterValidator(check)


class PageModel(ResponseModel):
    """A page of a list."""

    items: list[Any]
    next_cursor: NextCursor


# A text that names or ids are searched for.
SearchText = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
Cursor = Annotated[
    str | None, Query(max_length=200, pattern=PRINTABLE, description="`next_cursor` of the previous page")
]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="Maximum number of items per page")]
