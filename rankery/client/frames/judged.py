"""Check judged frames before they are sent, and name the row and column of a mistake."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from rankery.client.arguments import Columns
from rankery.client.frames import cells
from rankery.client.references import described, mapping_of
from rankery.errors import DataUnusable, WrongType
from rankery.identifiers import normalise_ids
from rankery.json_text import plain_value
from rankery.usual_columns import ROLES_OF_DOCUMENTS, USUAL_NAMES, columns_for, is_usual, usual_columns

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS_BY_ROLE = "a dictionary of column names by role, such as {'query': 'session'}"
_WEIGHT_ROLES = ("query_weight", "document_weight")
_TEXT_ROLES = ("query_text", "document_title", "document_url")
_LIST_ROLES = ("query_columns", "document_columns", "features", "categorical_features", "ignore")


def usual_column(role: str, names: Iterable[str], texts: Collection[str] = ()) -> str | None:
    """Return the only column that may have a role; None if there is none, or several."""
    matching = columns_for(role, names, texts)
    return matching[0] if len(matching) == 1 else None


def single_column(role: str, matching: Sequence[str]) -> str | None:
    """Return the only column that may have a role; None if there is none.

    Raises:
        DataUnusable: There are several.
    """
    if len(matching) > 1:
        raise DataUnusable(
            f"the columns {cells.listed(matching)} could each be the {role};"
            f" name one in columns={{{role!r}: …}}"
        )
    return matching[0] if matching else None


def check_names(columns: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse roles that do not exist and columns that the frame does not have.

    Args:
        columns: Column names by role, as `upload_dataset` takes them.

    Raises:
        DataUnusable: A name is unknown; the message suggests the nearest spelling.
        WrongType: A role has neither a text nor a list.
    """
    check_roles(columns, Columns.__annotations__)
    columns_of_frame = set(names)
    for role, requested in columns.items():
        if not (requested is None or isinstance(requested, str | Sequence)):
            raise WrongType(f"columns takes a text or a list of texts for {role}, not {described(requested)}")
        for name in [requested] if isinstance(requested, str) else requested or ():
            if name not in columns_of_frame:
                raise DataUnusable(
                    f"there is no column {name!r}, named as {role} in columns{cells.suggestion(name, names)}"
                    f" (the frame has {cells.listed(names)})"
                )


def check_roles(columns: Mapping[str, Any], valid_roles: Collection[str]) -> None:
    """Refuse roles that do not exist.

    Raises:
        DataUnusable: A name is unknown; the message suggests the nearest spelling.
    """
    for role in columns:
        if role not in valid_roles:
            raise DataUnusable(
                f"columns has no {role!r}{cells.suggestion(role, valid_roles)}"
                f" (it takes {cells.listed(valid_roles)})"
            )


def checked_columns(frame: Any, table: "pa.Table", columns: Columns | None) -> Columns:
    """Check a judged frame, and return its columns by role, categories included.

    Columns of type `category` (pandas), `Categorical` or `Enum` (polars) or `dictionary` (Arrow) are
    categories. They become categorical features if they have no other role, and either are whole numbers or
    are texts that differ within a query. Texts that are equal within each query describe the query; other
    numbers are numeric features.

    Args:
        table: The frame as an Arrow table, from `as_table`.
        columns: Columns by role, from the caller.

    Raises:
        DataUnusable: A column is missing, or a cell has a value that is invalid in its column.
        WrongType: The columns are not a dictionary of texts.
    """
    by_role = mapping_of(columns or {}, COLUMNS_BY_ROLE)
    requested: dict[str, Any] = {role: plain_value(names) for role, names in by_role.items()}
    names = table.column_names
    check_names(requested, names)
    _check_rows(table)
    label = _required_column("label", requested, names, frame)
    query = _required_column("query", requested, names, frame, cells.text_columns(table))
    if label is not None:
        _check_label(frame, label, table.column(label))
    if query is not None:
        _check_queries(frame, query, table.column(query))
    free = _columns_without_role(requested, names)
    for role in _WEIGHT_ROLES:
        weight = requested.get(role) or usual_column(role, free)
        if weight is not None:
            _check_weights(frame, table, weight, query if role == "query_weight" else None)
    document = requested.get("document") or usual_column("document", free)
    described = {
        name
        for role in ROLES_OF_DOCUMENTS
        if not requested.get(role) and usual_column(role, free)
        for name in usual_columns(role, free)
    }
    others = [
        name
        for name in free
        if name not in {label, query, document, *described}
        and not any(is_usual(role, name) for role in _TEXT_ROLES)
    ]
    declared = declared_categories(frame, table)
    categorical = []
    for name in others:
        column = table.column(name)
        if name in declared:
            _check_categories(name, column)
        if name in declared and (cells.is_number(column.type) or _differs_within_query(table, name, query)):
            categorical.append(name)
        elif cells.is_text(column.type):
            cells.refuse_text(frame, name, column)
            _refuse_texts_of_documents(frame, table, name, query, has_document=document is not None)
        else:
            _refuse_times_of_documents(frame, table, name, query)
    if categorical:
        requested["categorical_features"] = [*(requested.get("categorical_features") or ()), *categorical]
    return cast("Columns", requested)


def _required_column(
    role: str, requested: Mapping[str, Any], names: Sequence[str], frame: Any, texts: Collection[str] = ()
) -> str | None:
    """Return the column of a role; None if several have usual names, which the service refuses."""
    if isinstance(requested.get(role), str):
        return str(requested[role])
    free = _columns_without_role(requested, names)
    if not usual_columns(role, free):
        raise DataUnusable(
            f"no {role} column was found: name it in columns={{{role!r}: …}},"
            f" or call it {USUAL_NAMES[role][0]!r}{_suggested_name(role, free)}"
            f" (the frame has {cells.listed(names)}){index_hint(frame, role)}"
        )
    return usual_column(role, free, texts)


def _columns_without_role(requested: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return the columns that the caller gives no role."""
    with_role = {name for name in requested.values() if isinstance(name, str)}
    with_role |= {name for role in _LIST_ROLES for name in requested.get(role) or ()}
    return [name for name in names if name not in with_role]


def index_hint(frame: Any, role: str) -> str:
    """Return a hint to reset the index of a pandas frame if it has a usual name of the role."""
    names = [name for name in getattr(getattr(frame, "index", None), "names", ()) if isinstance(name, str)]
    column = usual_column(role, names)
    return f"; the index has {column!r}: frame.reset_index() makes it a column" if column else ""


def _suggested_name(role: str, names: Sequence[str]) -> str:
    return next((hint for usual in USUAL_NAMES[role][:4] if (hint := cells.suggestion(usual, names))), "")


def _check_rows(table: "pa.Table") -> None:
    if not table.num_rows:
        raise DataUnusable("the frame has no rows")


def _check_label(frame: Any, name: str, column: "pa.ChunkedArray[Any]") -> None:
    from rankery.client.frames.arrow import np, pa, pc

    if cells.is_text(column.type):
        for row in cells.texts_among_numbers(column)[0][:1].tolist():
            text = column[row].as_py()
            raise DataUnusable(
                f"{cells.row_text(frame, row)}, column {name!r}: expected a label, a number such as 2,"
                f" but found {text!r}; map texts to numbers: frame[{name!r}].map({{{text!r}: 2, …}})"
            )
        return
    if pa.types.is_floating(column.type):
        for row in np.flatnonzero(np.isinf(column.to_numpy()))[:1].tolist():
            raise DataUnusable(f"{cells.row_text(frame, row)}, column {name!r}: the label is infinite")
    row = cells.first_missing(column)
    if row is not None:
        floating = pa.types.is_floating(column.type)
        count = int(pc.is_null(column, nan_is_null=floating).to_numpy().sum())
        more = f" and {count - 1:,} more" if count > 1 else ""
        cells.warn(
            f"{cells.row_text(frame, row)}, column {name!r}: the label is missing (NaN){more}; drop such rows"
            f" (frame.dropna(subset=[{name!r}])), or train with label_map={{'nan': 0}}"
        )


def _check_weights(frame: Any, table: "pa.Table", name: str, query: str | None) -> None:
    """Refuse an invalid weight, and two weights of one query if the query column is given."""
    from rankery.client.frames.arrow import np, pa

    column = table.column(name)
    if not (cells.is_whole_number(column.type) or pa.types.is_floating(column.type)):
        return  # the service reads texts and refuses other types
    weights = column.to_numpy()
    for row in np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))[:1].tolist():
        raise DataUnusable(
            f"{cells.row_text(frame, row)}, column {name!r}: expected a finite weight of at least 0,"
            f" but found {weights[row]}"
        )
    rows = None if query is None else _first_change(table.column(query), column)
    if rows is not None:
        raise DataUnusable(
            f"{cells.row_text(frame, rows[1])}, column {name!r}: weights differ within query"
            f" {table.column(str(query))[rows[0]].as_py()!r}; if it has weights of documents, name it in"
            f" columns={{'document_weight': {name!r}}}"
        )


def _check_queries(frame: Any, name: str, column: "pa.ChunkedArray[Any]") -> None:
    from rankery.client.frames.arrow import np

    normalised = normalise_ids(column)
    cells.refuse_invalid_ids(frame, name, column, normalised)
    if (missing := cells.first_missing(normalised.texts)) is not None:
        raise DataUnusable(f"{cells.row_text(frame, missing)}, column {name!r}: the query is missing")
    codes = query_codes(column)
    if len(codes) > 1 and not codes.any():
        cells.warn(
            f"all {len(codes):,} rows belong to one query, {column[0].as_py()!r} in column {name!r};"
            " a model needs many queries, and nothing can be held out"
        )
    before_returns = np.flatnonzero(np.diff(codes) < 0)  # the next row is of a query that appeared earlier
    if len(before_returns):
        runs = codes[np.flatnonzero(np.diff(codes, prepend=-1))]
        scattered = int((np.bincount(runs) > 1).sum())
        cells.warn(
            f"the rows of {scattered:,} {'query' if scattered == 1 else 'queries'} are not contiguous,"
            f" first {cells.row_text(frame, int(before_returns[0]) + 1)}: the service gathers them in the"
            " order in which queries first appear"
        )


def query_codes(column: "pa.ChunkedArray[Any]") -> Any:
    """Return the index of each row's query, in the order of first appearance."""
    from rankery.client.frames.arrow import np, pc

    encoded: Any = pc.dictionary_encode(column.combine_chunks(), null_encoding="encode")
    return np.asarray(encoded.indices, np.int64)


def _first_change(query: "pa.ChunkedArray[Any]", column: "pa.ChunkedArray[Any]") -> tuple[int, int] | None:
    """Return the first two rows of one query that differ in a column; None if none do."""
    from rankery.client.frames.arrow import np

    queries, values = query_codes(query), query_codes(column)
    order = np.argsort(queries, kind="stable")
    differs = (np.diff(queries[order]) == 0) & (np.diff(values[order]) != 0)
    if not differs.any():
        return None
    first = int(np.argmax(differs))
    return int(order[first]), int(order[first + 1])


def _check_categories(name: str, column: "pa.ChunkedArray[Any]") -> None:
    from rankery.client.frames.arrow import pa

    if isinstance(column.type, pa.BaseExtensionType):
        raise DataUnusable(
            f"column {name!r}: categories must be texts or whole numbers, not {column.type};"
            f" convert it: frame[{name!r}].astype(str).astype('category')"
        )


def _differs_within_query(table: "pa.Table", name: str, query: str | None) -> bool:
    return query is not None and _first_change(table.column(query), table.column(name)) is not None


def _refuse_texts_of_documents(
    frame: Any, table: "pa.Table", name: str, query: str | None, *, has_document: bool
) -> None:
    """Refuse a column whose texts differ within a query: it describes documents, not queries."""
    rows = None if query is None else _first_change(table.column(query), table.column(name))
    if rows is None:
        return
    first, second = (table.column(name)[row].as_py() for row in rows)
    query_id = table.column(str(query))[rows[0]].as_py()
    of_documents = (
        ""
        if has_document
        else f" if it has the ids of documents, name it in columns={{'document': {name!r}}};"
    )
    raise DataUnusable(
        f"{cells.row_text(frame, rows[1])}, column {name!r}: texts differ within query {query_id!r}"
        f" ({first!r}, {second!r});{of_documents} if it is a feature,"
        f" {_feature_hint(frame, name, table.column(name))}, else name it in columns={{'ignore': [{name!r}]}}"
    )


def _refuse_times_of_documents(frame: Any, table: "pa.Table", name: str, query: str | None) -> None:
    """Refuse times that differ within a query, and durations: features are numbers."""
    from rankery.client.frames.arrow import pa

    kind = table.column(name).type
    if not pa.types.is_temporal(kind):
        return
    is_duration = pa.types.is_duration(kind)
    rows = None if query is None else _first_change(table.column(query), table.column(name))
    if is_duration or rows is not None:
        location = f"{cells.row_text(frame, rows[1])}, column" if rows else "column"
        found = "durations are" if is_duration else "times that differ within a query are"
        raise DataUnusable(
            f"{location} {name!r}: {found} no features; convert them to numbers, such as days,"
            f" or name it in columns={{'ignore': [{name!r}]}}"
        )


def _feature_hint(frame: Any, name: str, column: "pa.ChunkedArray[Any]") -> str:
    """Return a hint on using a column of texts as a feature: numbers if all are numbers, else categories."""
    from rankery.client.frames.arrow import pc

    points: Any = pc.replace_substring(column, ",", ".")
    if len(cells.texts_among_numbers(points)[0]):
        return f"name it in columns={{'categorical_features': [{name!r}]}}"
    if not type(frame).__module__.startswith("pandas"):
        return "convert its texts to numbers"
    has_commas = bool(len(cells.texts_among_numbers(column)[0]))
    texts = f"frame[{name!r}]" + (".str.replace(',', '.')" if has_commas else "")
    return f"convert its texts to numbers: pandas.to_numeric({texts}, errors='coerce')"


def declared_categories(frame: Any, table: "pa.Table | None" = None) -> set[str]:
    """Return the columns of categorical types; with the frame's table, without those of fractions."""
    declared = _columns_of(
        frame,
        pandas=lambda kind: str(kind) == "category" or str(kind).startswith("dictionary"),
        polars=lambda kind: str(kind).startswith(("Categorical", "Enum")),
        arrow=lambda kind: str(kind).startswith("dictionary"),
    )
    if table is None:
        return declared
    return {name for name in declared.intersection(table.column_names) if cells.are_categories(table[name])}


def declared_times(frame: Any) -> set[str]:
    """Return the columns of dates, times and durations."""
    return _columns_of(
        frame,
        pandas=lambda kind: kind.kind in "mM" or str(kind).startswith(("period", "date", "time")),
        polars=lambda kind: kind.is_temporal(),
        arrow=lambda kind: str(kind).startswith(("date", "time", "duration")),
    )


def _columns_of(
    frame: Any,
    *,
    pandas: Callable[[Any], bool],
    polars: Callable[[Any], bool],
    arrow: Callable[[Any], bool],
) -> set[str]:
    """Return the columns whose type fulfils the condition of the frame's library."""
    library = type(frame).__module__.partition(".")[0]
    if library == "pandas":
        return {str(name) for name, kind in frame.dtypes.items() if pandas(kind)}
    if library == "polars":
        return {name for name, kind in frame.schema.items() if polars(kind)}
    if library == "pyarrow" and hasattr(frame, "schema"):
        return {field.name for field in frame.schema if arrow(field.type)}
    return set()
