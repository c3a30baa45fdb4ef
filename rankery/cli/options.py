"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from rankery.cli.completion import of_service
from rankery.cli.job_names import JobKind, JobStatus

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
    bool, typer.Option("--quiet", "-q", help="Print the result alone: no progress, no notices; errors stay.")
]
DataFormat = Literal["auto", "letor", "lightgbm", "csv", "parquet", "trec-qrels"]
FormatOption = Annotated[DataFormat, typer.Option(help="auto tells it by the content.")]


def file_option(help: str, **more: Any) -> Any:
    """Return an option that takes a file which can be read."""
    return typer.Option(exists=True, dir_okay=False, readable=True, help=help, **more)


QuerySizesOption = Annotated[
    Path | None,
    file_option("LightGBM's query file; FILE.query beside FILE is found without."),
]
Limit = Annotated[int, typer.Option(min=1, help="How many to list at most.")]
Permanently = Annotated[
    bool, typer.Option("--permanently", help="Free the bytes at once, without the trash.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; a program has to say so.")]
Watch = Annotated[
    bool, typer.Option("--watch/--no-watch", help="Wait for the end, with progress on a terminal.")
]
SetTags = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A tag to set; may be repeated.")
]
RemoveTags = Annotated[
    list[str] | None, typer.Option("--remove", metavar="NAME", help="A tag to remove; may be repeated.")
]

_FILTERS = "Filters"


def _filter(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_FILTERS, **more)


# Filters of lists, of labels and of deletions.
OfProject = Annotated[str | None, _filter("--project", help="Of this project; - for those of none.")]
OfStatus = Annotated[str | None, _filter("--status", help="In this status, such as failed.")]
OfJobStatus = Annotated[JobStatus | None, _filter("--status", help="In this status.")]
OfKind = Annotated[
    JobKind | None, _filter("--kind", metavar="KIND", help="Of this kind, such as train or evaluate.")
]
OfName = Annotated[
    str | None,
    _filter("--name", help="Versions of this name.", autocompletion=of_service("model names")),
]
OfModel = Annotated[str | None, _filter("--model", help="Of this version of a model, mdl_…")]
OfPaper = Annotated[str | None, _filter("--paper", help="Of this paper, such as lambdaloss-2018.")]
OnDataset = Annotated[str | None, _filter("--dataset", help="On this dataset, ds_…")]
WithTag = Annotated[str | None, _filter("--tag", help="With this tag: team, or team:search.")]
OlderThan = Annotated[
    float | None, _filter("--older-than", help="At least so many days old.", min=0, metavar="DAYS")
]
CreatedBefore = Annotated[
    str | None,
    _filter("--created-before", help="Made before this day or moment, UTC.", metavar="2026-05-01"),
]
Everything = Annotated[bool, _filter("--all", help="All there are.")]
