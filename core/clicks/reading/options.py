"""Options for reading a click log: format, columns, weights of actions and the base of ranks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, get_args

from core.errors import InputProblem, InvalidInput, pointer_of

ClickLogFormat = Literal["auto", "ubi", "sessions", "metarank", "open-bandit", "table"]
FORMATS: tuple[ClickLogFormat, ...] = get_args(ClickLogFormat)
# Columns of a long table by role, with the names by which they are detected; each column has one role.
ROLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "query": ("query", "query_text", "user_query", "search_query", "keywords", "query_id"),
        "document": (
            "document",
            "document_id",
            "doc_id",
            "doc",
            "docno",
            "item",
            "item_id",
            "product_id",
            "object_id",
        ),
        "rank": ("rank", "position", "ordinal"),
        "click": ("click", "clicked", "clicks", "is_click"),
        "action": ("action", "action_name", "event_type"),
        "list": ("list", "list_id", "session_id", "session", "search_id", "ranking_id", "query_id"),
        "time": ("time", "timestamp"),
        "user": ("user", "user_id", "client_id"),
        "version": ("version", "model", "model_version"),
        "propensity": ("propensity", "propensity_score"),
        "team": ("team",),
    }
)
DEFAULT_ACTIONS: Mapping[str, float] = MappingProxyType({"click": 1.0})
MAX_ACTIONS = 30
_MAX_NAME_LENGTH = 200
_MAX_WEIGHT = 1e9  # sums of weights are float32


@dataclass(frozen=True)
class LogOptions:
    """Options for reading a click log.

    Attributes:
        format: One of `FORMATS`; `auto` detects the format from the content.
        columns: Names of columns of a long table by role, see `ROLES`; columns of other roles are detected by
            name. For `metarank`, `query` is the name of the field with the query.
        actions: Weights of actions by name. Other actions, except impressions, are counted but ignored.
        rank_base: Rank of the first position in the files, 0 or 1; None to detect it.
    """

    format: str = "auto"
    columns: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, float] = field(default_factory=lambda: DEFAULT_ACTIONS)
    rank_base: int | None = None


def log_options(values: Mapping[str, Any]) -> LogOptions:
    """Build the options from JSON values.

    Raises:
        InvalidInput: With a pointer for each unknown or invalid entry.
    """
    options = {name: value for name, value in values.items() if value is not None}
    problems = [
        InputProblem(pointer_of(name), f"unknown; known here: {', '.join(_CHECKS)}")
        for name in options
        if name not in _CHECKS
    ]
    for name, check in _CHECKS.items():
        if name in options:
            problems += check(options[name])
    if problems:
        raise InvalidInput(*problems)
    return LogOptions(**options)


def _format_problems(value: Any) -> list[InputProblem]:
    fits = value in FORMATS
    return [] if fits else [InputProblem("/format", f"must be one of {', '.join(FORMATS)}")]


def _column_problems(value: Any) -> list[InputProblem]:
    if not isinstance(value, Mapping):
        return [InputProblem("/columns", 'must be an object such as {"document": "sku"}')]
    unknown = [
        InputProblem(pointer_of("columns", role), f"unknown; known here: {', '.join(ROLES)}")
        for role in value
        if role not in ROLES
    ]
    return unknown + [
        InputProblem(f"/columns/{role}", "must be the name of a column")
        for role, name in value.items()
        if role in ROLES and not (isinstance(name, str) and name)
    ]


def _action_problems(value: Any) -> list[InputProblem]:
    if not isinstance(value, Mapping) or not 0 < len(value) <= MAX_ACTIONS:
        rule = f'must be an object of 1 to {MAX_ACTIONS} weights such as {{"click": 1, "purchase": 5}}'
        return [InputProblem("/actions", rule)]
    return [
        InputProblem(
            pointer_of("actions", name),
            "must be a name of at most 200 characters, and a weight from 0 to 1e9",
        )
        for name, weight in value.items()
        if not (0 < len(name) <= _MAX_NAME_LENGTH and _is_weight(weight))
    ]


def _is_weight(weight: Any) -> bool:
    return isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight <= _MAX_WEIGHT


def _base_problems(value: Any) -> list[InputProblem]:
    fits = value in (0, 1) and not isinstance(value, bool)
    return [] if fits else [InputProblem("/rank_base", "must be 0 or 1, or left out to detect it")]


_CHECKS = MappingProxyType(
    {
        "format": _format_problems,
        "columns": _column_problems,
        "actions": _action_problems,
        "rank_base": _base_problems,
    }
)
