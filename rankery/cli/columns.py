"""Options of the command line for columns and labels of judged data."""

from typing import Annotated, Any

import typer

from rankery.cli.texts import json_object

COLUMNS_OPTION = "--columns"
LABEL_MAP_OPTION = "--label-map"
ROLES = (
    *("label", "query", "document", "query_weight", "document_weight"),
    *("query_text", "document_title", "document_url", "click", "action"),
)
LIST_ROLES = ("query_columns", "document_columns", "features", "categorical_features", "ignore")

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
    return None if text is None else json_object(text, COLUMNS_OPTION)


def label_map_of(text: str | None) -> dict[str, Any] | None:
    """Parse the JSON of `--label-map`.

    Raises:
        NotUnderstood: The text is not a JSON object.
    """
    return None if text is None else json_object(text, LABEL_MAP_OPTION)
