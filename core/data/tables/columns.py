"""Positions of a table's columns by role, and the names of its features."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from core.data.feature_choice import block_features
from core.data.options import QUERY_TEXT, ReadingOptions
from core.data.tables.cells import Kind
from core.data.tables.problems import cause_of_columns, listed
from core.data.tables.roles import Roles, find_roles
from core.data.tables.table import Table
from core.errors import DatasetError, InputProblem, InvalidInput, pointer_of
from rankery.usual_columns import usual_columns


@dataclass(frozen=True)
class SelectedColumns:
    """The columns of a table that are read, by position.

    Attributes:
        roles: Roles that were requested or detected.
        query_columns: Positions of the columns that are stored as query metadata.
        widths: Length of the lists of each feature column, None for columns without lists.
    """

    roles: Roles
    features: tuple[int, ...]
    query_columns: tuple[int, ...]
    widths: tuple[int | None, ...]

    @property
    def n_features(self) -> int:
        """Number of features, where a list counts as several."""
        return sum(width or 1 for width in self.widths)

    @property
    def spans(self) -> list[slice]:
        """Slice of the feature matrix of each feature column."""
        bounds = accumulate((width or 1 for width in self.widths), initial=0)
        return [slice(first, last) for first, last in pairwise(bounds)]

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of all columns that are read."""
        roles = self.roles
        return (*roles.by_role.values(), *self.query_columns, *roles.document_columns, *self.features)


def find_columns(
    table: Table, options: ReadingOptions, *, has_sizes: bool, labelled: bool
) -> SelectedColumns:
    """Select the columns to read, as requested or by their names and types.

    Args:
        has_sizes: Whether the sizes of the queries are known, so that no query column is needed.
        labelled: Whether a label column is required.

    Raises:
        DatasetError: A required column is missing, there is no feature, or a column cannot be read.
    """
    required = [role for role, is_required in (("label", labelled), ("query", not has_sizes)) if is_required]
    kinds = table.kinds()
    roles = find_roles(
        table.names,
        options.columns,
        table.file,
        table.header_line,
        detect=not has_sizes,
        required=required,
        texts=_of_kind(table.names, kinds, "text"),
        lists=_of_kind(table.names, kinds, "list"),
    )
    if has_sizes and labelled and "label" not in roles.by_role:  # as in LightGBM
        usual = usual_columns("label", table.names)
        if 0 not in roles.rest or (usual and usual[0] != table.names[0]):
            raise DatasetError.at(
                f"expected the label in the first column, but found {table.names[0]!r}; set columns.label",
                file=table.file,
                line=table.header_line,
            )
        roles = replace(roles, by_role={**roles.by_role, "label": 0}, rest=roles.rest[1:])
    nested = [table.names[p] for p in roles.rest if kinds[p] == "other"]
    if nested:
        raise DatasetError.at(
            f"expected columns of numbers, text or lists of numbers, but {listed(nested)} have"
            " other types; remove the columns or name them in columns.ignore",
            file=table.file,
            line=table.header_line,
            causes=cause_of_columns("nested_values", nested),
        )
    features = roles.features
    if features is None:
        declared = tuple(position for position in roles.rest if kinds[position] == "category")
        roles = replace(roles, categorical_features=(*roles.categorical_features, *declared))
        of_numbers = tuple(position for position in roles.rest if kinds[position] in ("number", "list"))
        features = tuple(sorted((*of_numbers, *roles.categorical_features)))
    else:
        features = tuple(dict.fromkeys((*features, *roles.categorical_features)))
    if not features and roles.features is None:
        raise DatasetError.at(
            f"expected feature columns (numbers), but found none among {listed(table.names)}; set"
            " columns.features to an empty list for judgments without features",
            file=table.file,
            line=table.header_line,
        )
    other_text_columns = tuple(p for p in roles.rest if kinds[p] == "text" and p not in features)
    query_columns = (*roles.query_columns, *other_text_columns)
    if QUERY_TEXT in roles.by_role and QUERY_TEXT in (table.names[position] for position in query_columns):
        raise DatasetError.at(
            f"expected no column {QUERY_TEXT!r} in addition to the column that columns.{QUERY_TEXT} names;"
            f" name {QUERY_TEXT!r} in columns.ignore",
            file=table.file,
            line=table.header_line,
            column=QUERY_TEXT,
        )
    widths = table.widths()
    list_widths = (widths[position] if kinds[position] == "list" else None for position in features)
    return SelectedColumns(roles, features, query_columns, tuple(list_widths))


def _of_kind(names: Sequence[str], kinds: Sequence[Kind], kind: Kind) -> list[str]:
    return [name for name, each in zip(names, kinds, strict=True) if each == kind]


def feature_names(table: Table, selected: SelectedColumns, options: ReadingOptions) -> tuple[str, ...]:
    """Return the names of all features; lists get numbers after the column's name.

    Raises:
        DatasetError: The numbers of lists make a name that another column has.
        InvalidInput: `feature_names` names a column that is not a feature, or makes two names equal.
    """
    columns = [table.names[position] for position in selected.features]
    unknown = sorted(set(options.feature_names).difference(columns))
    if unknown:
        detail = f"is not a feature column; feature columns are {listed(columns)}"
        raise InvalidInput(*(InputProblem(pointer_of("feature_names", name), detail) for name in unknown))
    names: list[str] = []
    for column, width in zip(columns, selected.widths, strict=True):
        name = options.feature_names.get(column, column)
        names += [name] if width is None else block_features(name, width)
    if len(set(names)) < len(names):
        if not options.feature_names:
            raise _clash(table, columns, selected.widths, names)
        raise InvalidInput.at("/feature_names", "must all be different")
    return tuple(names)


def _clash(
    table: Table, columns: Sequence[str], widths: Sequence[int | None], names: Sequence[str]
) -> DatasetError:
    """Build the error for a column of lists whose features have the name of another column."""
    repeated = {name for name, times in Counter(names).items() if times > 1}
    column, clashing = next(
        (column, name)
        for column, width in zip(columns, widths, strict=True)
        if width is not None
        for name in block_features(column, width)
        if name in repeated
    )
    return DatasetError.at(
        f"expected no column {clashing!r}, because the lists of column {column!r} become the features"
        f" {column}.0, {column}.1, …; rename one of the columns or name it in columns.ignore",
        file=table.file,
        line=table.header_line,
        column=column,
    )
