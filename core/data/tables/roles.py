"""Assign roles to the columns of a table."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from core.data.feature_choice import block_features, feature_blocks
from core.data.options import DOCUMENT_TITLE, DOCUMENT_URL, QUERY_TEXT, ROLES, TEXT_ROLES, Columns
from core.data.tables.cells import are_whole_numbers
from core.data.tables.problems import Problems, cause_of_columns, listed
from core.data.tables.table import Table
from core.errors import DatasetError, DatasetProblem
from rankery.usual_columns import ROLES_OF_DOCUMENTS, USUAL_NAMES, columns_for, is_usual, usual_columns

_ROLE_NAMES = {
    "label": "the label",
    "query": "the query",
    "document": "the document",
    "query_weight": "the weight of the query",
    "document_weight": "the weight of the document",
    QUERY_TEXT: "the text of the query",
    DOCUMENT_TITLE: "the title of the document",
    DOCUMENT_URL: "the URL of the document",
}
_INDEX = re.compile(r"|Unnamed: \d+")  # an unnamed index column, as pandas writes or reads it
_PARQUET_INDEX = re.compile(r"__index_level_\d+__")  # the same in Parquet and Arrow


@dataclass(frozen=True)
class Roles:
    """Requested and detected roles of the columns of a table, by position.

    Attributes:
        by_role: Position of the column of each role (`label`, `query`, ...); absent roles are left out.
        query_columns: Columns that were requested as query metadata.
        document_columns: Columns of document metadata: requested ones, and further ids or weights.
        features: Columns that were requested as features, or None.
        categorical_features: Columns that were requested as categorical features.
        rest: Columns without a role; an index that pandas wrote is left out, as pandas does on reading.
    """

    by_role: Mapping[str, int]
    query_columns: tuple[int, ...]
    document_columns: tuple[int, ...]
    features: tuple[int, ...] | None
    categorical_features: tuple[int, ...]
    rest: tuple[int, ...]


def find_roles(
    names: Sequence[str],
    columns: Columns,
    file: str,
    line: int | None,
    *,
    detect: bool = True,
    required: Collection[str] = ("label", "query"),
    texts: Sequence[str] = (),
    lists: Collection[str] = (),
) -> Roles:
    """Assign roles to columns as requested, else by their usual names.

    Args:
        file: The file, for messages.
        line: Line of the header, for messages.
        detect: Whether to detect roles by usual names.
        required: Roles that must be assigned, if roles are detected.
        texts: Text columns. Only these get a display role by a usual name, as `title` may be a feature.
        lists: List columns. These get no role by a usual name, as `query` may be an embedding.

    Raises:
        DatasetError: A name is missing, duplicate or unknown, or a role is unassigned or ambiguous.
    """
    problems = [
        *_invalid_names(names, columns),
        *_unknown_columns(names, columns),
    ]
    mentioned = {name for _, name in columns.pointers_and_names()}
    position_of = {name: position for position, name in enumerate(names)}
    by_role: dict[str, int] = {}
    further: list[str] = []  # ids and weights of documents
    for role in ROLES:
        requested = getattr(columns, role)
        candidates = [requested] if requested is not None else []
        if requested is None and detect:
            columns_with_role = {*mentioned, *lists, *(names[position] for position in by_role.values())}
            searched = texts if role in TEXT_ROLES else names
            free = [name for name in searched if name not in columns_with_role]
            candidates = columns_for(role, free, texts)
            if role in TEXT_ROLES:
                candidates = candidates[:1]  # display text only; a second candidate is not an error
            if role in ROLES_OF_DOCUMENTS:
                further += [name for name in usual_columns(role, free) if name not in candidates]
        if len(candidates) > 1:
            problems.append(_ambiguous_role(role, candidates))
        elif candidates and candidates[0] in position_of:
            by_role[role] = position_of[candidates[0]]
        elif not candidates and detect and role in required:
            problems.append(_missing_role(role, names, lists))
    if problems:
        unnamed = [name for name in names if name and _INDEX.fullmatch(name) and name not in columns.ignore]
        raise DatasetError(
            *(DatasetProblem(problem.detail, file, line, problem.column) for problem in problems),
            causes=cause_of_columns("row_numbers", unnamed),
        )

    def positions(listed: Iterable[str]) -> tuple[int, ...]:
        return tuple(position_of[name] for name in listed)

    used = {*by_role.values(), *positions((*mentioned, *further))}
    return Roles(
        MappingProxyType(by_role),
        positions(columns.query_columns),
        positions((*columns.document_columns, *further)),
        None if columns.features is None else positions(columns.features),
        positions(columns.categorical_features),
        tuple(
            position
            for position, name in enumerate(names)
            if position not in used and not _PARQUET_INDEX.fullmatch(name)
        ),
    )


def unjudged_columns(table: Table, features: Sequence[str], columns: Columns) -> Columns:
    """Assign a role to every column of an unjudged table: query, document, feature or ignored.

    A feature of texts, of declared categories or of whole numbers that float32 rounds is read as a
    categorical feature, which keeps all digits.

    Raises:
        DatasetError: The table has none of the features, or has unknown columns but no query column.
    """
    named_features = columns.features and (*columns.features, *columns.categorical_features)
    widths = dict(zip(table.names, table.widths(), strict=True))
    kinds = dict(zip(table.names, table.kinds(), strict=True))
    lists = {name for name, kind in kinds.items() if kind == "list"}
    _check_widths(table, {name: widths[name] for name in lists.difference(columns.ignore)}, features)
    modelled = set(features)
    usable_features = {
        name
        for name in set(table.names).intersection(named_features or table.names)
        if not modelled.isdisjoint(block_features(name, widths[name]) if name in lists else (name,))
    }
    with_role = {getattr(columns, role) for role in ROLES} | {
        *columns.query_columns,
        *columns.document_columns,
        *columns.ignore,
    }
    feature_columns = tuple(name for name in table.names if name in usable_features - with_role)
    long_numbers = _long_whole_numbers(table, [name for name in feature_columns if kinds[name] == "number"])
    categorical = tuple(
        name
        for name in feature_columns
        if name in columns.categorical_features or name in long_numbers or kinds[name] in ("text", "category")
    )
    if not feature_columns:
        expected = f"expected features of the model such as {listed(features)}, but found only"
        raise DatasetError.at(f"{expected} {listed(table.names)}", file=table.file, line=table.header_line)
    requested = Columns(
        query=columns.query,
        document=columns.document,
        features=tuple(name for name in feature_columns if name not in categorical) or None,
        categorical_features=categorical,
        ignore=tuple(name for name in table.names if name in with_role - {columns.query, columns.document}),
    )
    # Texts of queries only: other texts would no longer require a query column.
    texts = [name for name, kind in kinds.items() if kind == "text" and is_usual("query", name)]
    find = partial(
        find_roles, table.names, requested, table.file, table.header_line, texts=texts, lists=lists
    )
    roles = find(required=())
    if roles.rest:
        roles = find(required=("query",))
    query, document = (
        table.names[roles.by_role[role]] if role in roles.by_role else None for role in ("query", "document")
    )
    used = {query, document, *feature_columns}
    ignored = tuple(name for name in table.names if name not in used)
    return replace(requested, query=query, document=document, ignore=ignored)


def _long_whole_numbers(table: Table, names: Sequence[str]) -> set[str]:
    """Return the columns of whole numbers only, of which float32 may round one."""
    whole, long = set(names), set[str]()
    positions = [table.names.index(name) for name in names]
    for arrays in table.blocks(positions, Problems(), None) if names else ():
        for name, column in zip(names, arrays, strict=True):
            if name in whole:
                are_whole, has_long = are_whole_numbers(column)
                if not are_whole:
                    whole.remove(name)
                elif has_long:
                    long.add(name)
        if not whole:
            break
    return whole & long


def _check_widths(table: Table, widths: Mapping[str, int], features: Sequence[str]) -> None:
    """Refuse lists that are shorter than the model's block of the same name."""
    blocks = feature_blocks(features)
    for name, width in widths.items():
        if name in blocks and width < len(blocks[name]):
            expected = f"expected lists of at least {len(blocks[name]):,} numbers, which the model uses"
            raise DatasetError.at(f"{expected}, but found lists of {width:,}", file=table.file, column=name)


def _invalid_names(names: Sequence[str], columns: Columns) -> list[DatasetProblem]:
    problems = []
    first: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if _INDEX.fullmatch(name) and name not in columns.ignore:
            called = f"is called {name!r}" if name else "has no name"
            detail = (
                f"expected a name for every column, but column {position} {called}, perhaps a column of"
                " row numbers; omit row numbers when you write the file"
            )
            detail += ", or name it in columns.ignore" if name else ""
            problems.append(DatasetProblem(detail, column=name or None))
        elif name in first:
            detail = f"expected different names, but columns {first[name]} and {position} are both {name!r}"
            problems.append(DatasetProblem(detail, column=name))
        first.setdefault(name, position)
    return problems


def _unknown_columns(names: Sequence[str], columns: Columns) -> list[DatasetProblem]:
    existing = set(names)
    return [
        DatasetProblem(
            f"expected the column {name!r} of {pointer[1:].replace('/', '.')}, but found only {listed(names)}"
        )
        for pointer, name in columns.pointers_and_names()
        if name not in existing
    ]


def _ambiguous_role(role: str, candidates: Sequence[str]) -> DatasetProblem:
    return DatasetProblem(
        f"expected one column for {_ROLE_NAMES[role]}, but found {' and '.join(map(repr, candidates))};"
        f" set columns.{role}"
    )


def _missing_role(role: str, names: Sequence[str], lists: Collection[str]) -> DatasetProblem:
    usual_lists = [name for name in usual_columns(role, names) if name in lists]
    note = f"; {usual_lists[0]!r} holds lists" if usual_lists else ""
    return DatasetProblem(
        f"expected a column for {_ROLE_NAMES[role]}, named {', '.join(USUAL_NAMES[role][:3])}"
        f" or set in columns.{role}, but found only {listed(names)}{note}"
    )
