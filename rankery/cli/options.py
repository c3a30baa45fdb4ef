"""Options that several commands share, and columns and labels of judged data."""

from pathlib import Path
from typing import Annotated, Any

import typer

from rankery.cli.completion import complete_from_service
from rankery.cli.names import DataFormat, JobKind, JobStatus
from rankery.cli.texts import json_object

DEFAULT_DATA_DIR = Path("rankery-data")

DataDir = Annotated[
    Path,
    typer.Option(envvar="RANKERY_DATA_DIR", help="Folder of the database, the artifacts and the logs."),
]
Host = Annotated[
    str,
    typer.Option(envvar="RANKERY_HOST", help="Address to listen on; 0.0.0.0 opens it to the network."),
]
Port = Annotated[
    int,
    typer.Option(envvar="RANKERY_PORT", min=0, max=65535, help="Port to listen on; 0 takes any free one."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print only the result and errors, without progress and notices."),
]
FormatOption = Annotated[DataFormat, typer.Option(help="Format of the data; auto detects it.")]


def file_option(help: str, **more: Any) -> Any:
    """Return an option that takes a file which can be read."""
    return typer.Option(exists=True, dir_okay=False, readable=True, help=help, **more)


QuerySizesOption = Annotated[
    Path | None,
    file_option("LightGBM's query file; FILE.query in the folder of FILE is found automatically."),
]
Limit = Annotated[int, typer.Option(min=1, help="Maximum number of objects to list.")]
Permanently = Annotated[bool, typer.Option("--permanently", help="Delete permanently, without the trash.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation; required in scripts.")]
Watch = Annotated[
    bool, typer.Option("--watch/--no-watch", help="Wait for the result, with progress on a terminal.")
]
SetTags = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Tag to set; may be repeated.")
]
RemoveTags = Annotated[
    list[str] | None, typer.Option("--remove", metavar="NAME", help="Tag to remove; may be repeated.")
]

_FILTERS = "Filters"


def _filter(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_FILTERS, **more)


# Filters of lists, of labels and of deletions.
OfProject = Annotated[
    str | None, _filter("--project", help="Objects of this project; - for objects without one.")
]
OfStatus = Annotated[str | None, _filter("--status", help="Objects in this status, such as failed.")]
OfJobStatus = Annotated[JobStatus | None, _filter("--status", help="Jobs in this status.")]
OfKind = Annotated[
    JobKind | None, _filter("--kind", metavar="KIND", help="Jobs of this kind, such as train or evaluate.")
]
OfName = Annotated[
    str | None,
    _filter(
        "--name", help="Versions of this model name.", autocompletion=complete_from_service("model names")
    ),
]
OfModel = Annotated[str | None, _filter("--model", help="Results of this model version, mdl_…")]
OfPaper = Annotated[
    str | None, _filter("--paper", help="Experiments on this paper, such as lambdaloss-2018.")
]
OnDataset = Annotated[str | None, _filter("--dataset", help="Objects that use this dataset, ds_…")]
WithTag = Annotated[str | None, _filter("--tag", help="Objects with this tag: team, or team:search.")]
OlderThan = Annotated[
    float | None, _filter("--older-than", help="Objects at least this many days old.", min=0, metavar="DAYS")
]
CreatedBefore = Annotated[
    str | None,
    _filter(
        "--created-before",
        help="Objects created before this date or time, UTC by default.",
        metavar="2026-05-01",
    ),
]
Everything = Annotated[bool, _filter("--all", help="All objects.")]


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
