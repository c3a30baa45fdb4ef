"""Options that several commands take."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

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
OfProject = Annotated[
    str | None, typer.Option("--project", help="Only those of this project; - for those of none.")
]
Permanently = Annotated[
    bool, typer.Option("--permanently", help="Free the bytes at once, without the trash.")
]
