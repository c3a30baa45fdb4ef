"""Options of the command line for columns and labels of judged data."""

import json
import re
from typing import Annotated, Any

import typer

from rankery.cli.texts import json_object

_OPTION = "--columns"
_LABEL_MAP = "--label-map"
_ROLES = (
    *("label", "query", "document", "query_weight", "document_weight"),
    *("query_text", "document_title", "document_url", "click", "action"),
)
_LIST_ROLES = ("query_columns", "document_columns", "features", "categorical_features", "ignore")
# Column roles as the table reader and its errors spell them.
_ROLE_FIELD = re.compile(rf"\bcolumns\.({'|'.join((*_ROLES, *_LIST_ROLES))})\b(\.\d+)?")
# The label map of a study or a grid has a longer pointer, such as `/base/label_map`.
_LABEL_MAP_POINTER = re.compile(r"(/\w+)*/label_map\b")

ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="JSON",
        help="Roles of the columns of a table, if their names do not show it:"
        ' {"label": "grade", "query": "search"}.',
    ),
]

LabelMapOption = Annotated[
    str | None,
    typer.Option(
        metavar="JSON",
        help='Replacement of labels: {"nan": 0} for documents without a label, {"-1": 0} for the label -1.',
    ),
]


def columns_of(text: str | None) -> dict[str, Any] | None:
    """Parse the JSON of `--columns`.

    Raises:
        NotUnderstood: The text is not a JSON object.
    """
    return None if text is None else json_object(text, _OPTION)


def label_map_of(text: str | None) -> dict[str, Any] | None:
    """Parse the JSON of `--label-map`.

    Raises:
        NotUnderstood: The text is not a JSON object.
    """
    return None if text is None else json_object(text, _LABEL_MAP)


def with_option_names(sentence: str) -> str:
    r"""Replace field names such as `columns.query` and `/label_map` in an error by the options for them.

    Example:
        >>> with_option_names("expected a column for the query, given in columns.query")
        'expected a column for the query, given in --columns \'{"query": …}\''
        >>> with_option_names("/base/label_map: map missing labels")
        '--label-map: map missing labels'
    """

    def option(field: re.Match[str]) -> str:
        value = "…" if field[1] in _ROLES else "[…]"
        return f"{_OPTION} '{{{json.dumps(field[1])}: {value}}}'"

    return _LABEL_MAP_POINTER.sub(_LABEL_MAP, _ROLE_FIELD.sub(option, sentence))
