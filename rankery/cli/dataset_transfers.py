"""`rankery datasets import` and `download`: data that lie elsewhere."""

from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from rankery.cli.columns import ColumnsOption, columns_of
from rankery.cli.connection import ServiceConnection
from rankery.cli.datasets import DatasetReference, show_all
from rankery.cli.endings import WrongUsage
from rankery.cli.options import FormatOption
from rankery.cli.printing import say
from rankery.cli.references import dataset_of, read
from rankery.cli.service_options import on_service


@on_service
def import_datasets(
    session: ServiceConnection,
    addresses: Annotated[
        list[str] | None,
        typer.Argument(
            help="s3://…, gs://…, https://…, hf:… or ir_datasets:…; several become one dataset."
            " Or upload:upl_…, a finished resumable upload.",
            show_default=False,
        ),
    ] = None,
    train: Annotated[str | None, typer.Option(help="Address of the training part, in their place.")] = None,
    validation: Annotated[str | None, typer.Option(help="Address of the validation part.")] = None,
    test: Annotated[str | None, typer.Option(help="Address of the test part.")] = None,
    files: Annotated[
        str | None, typer.Option(help="Pattern of names in a folder, such as part-*.parquet.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What to call it.", show_default="by its address")] = None,
    format: FormatOption = "auto",
    columns: ColumnsOption = None,
    credentials: Annotated[
        str | None, typer.Option(help="Name of credentials that the workers have; never a secret.")
    ] = None,
    project: Annotated[str | None, typer.Option(help="The project that it belongs to.")] = None,
) -> None:
    """Have the service read judged data from an address, which RANKERY_SOURCES must allow.

    Example: `rankery datasets import s3://clicks/2026-05 --files 'part-*.parquet' --name May`
    """
    parts = {"train": train, "validation": validation, "test": test}
    given = {part: address for part, address in parts.items() if address is not None}
    if bool(addresses) == bool(given):
        raise WrongUsage("give either addresses, or --train, --validation and --test")
    source: Any = addresses[0] if addresses and len(addresses) == 1 else addresses
    first = session.client.import_dataset(
        source or None,
        name,
        parts=given or None,
        files=files,
        columns=cast("Any", columns_of(columns)),
        format=None if format == "auto" else format,
        credentials=credentials,
        project=project,
    )
    ids = [*(first.parts or {}).values()] or [first.id]
    show_all(session, [read(session, session.client.dataset(one)) for one in ids])


@on_service
def download_dataset(
    session: ServiceConnection,
    dataset: DatasetReference,
    file: Annotated[
        Path | None, typer.Argument(dir_okay=False, help="Where to.", show_default="NAME.parquet or .letor")
    ] = None,
    format: Annotated[Literal["parquet", "letor"], typer.Option(help="What to write.")] = "parquet",
) -> None:
    """Download a dataset as it was read; uploaded again, it is the same.

    Example: `rankery datasets download clicks clicks.parquet`
    """
    found = dataset_of(session, dataset)
    target = found.download(file or Path(f"{Path(found.name).stem}.{format}"), format)
    say(f"wrote {found.name} to {target}")
    session.show({"dataset": found.id, "path": str(target), "format": format})
