"""`rankery datasets upload`, `read`, `import`, `generate` and `download`: transfer of datasets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from rankery.cli.connection import ServiceConnection
from rankery.cli.datasets import DatasetReference, datasets, show_all
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.options import ColumnsOption, FormatOption, QuerySizesOption, columns_of
from rankery.cli.printing import say
from rankery.cli.references import dataset_of, upload, wait_until_ready
from rankery.cli.service_options import service_command

if TYPE_CHECKING:
    from rankery.client import Dataset

__all__ = ["datasets"]  # with the commands of this module


@service_command(datasets, "upload")
def upload_datasets(
    session: ServiceConnection,
    files: Annotated[
        list[Path],
        typer.Argument(
            exists=True,
            dir_okay=False,
            readable=True,
            help="LETOR or SVMlight text, LightGBM's data, CSV, TSV, Parquet or TREC qrels; gzip or Zstandard"
            " as well.",
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help="Name of the dataset, for a single file.", show_default="the file's")
    ] = None,
    format: FormatOption = "auto",
    columns: ColumnsOption = None,
    query_sizes: QuerySizesOption = None,
    non_contiguous_queries: Annotated[
        Literal["regroup", "error"], typer.Option(help="Handling of queries whose rows are not contiguous.")
    ] = "regroup",
) -> None:
    """Upload judged data, wait until they are read, and print the findings of the data check.

    Example: `rankery datasets upload train.txt test.txt`

    Example: `rankery datasets upload judged.csv --columns '{"label": "grade", "query": "search"}'`
    """
    if len(files) > 1 and (name is not None or query_sizes is not None):
        raise WrongUsage("--name and --query-sizes apply to one file; upload several files one at a time")
    options: dict[str, Any] = {"format": format, "non_contiguous_queries": non_contiguous_queries}
    chosen = columns_of(columns)
    show_all(
        session, [upload(session, file, name, columns=chosen, sizes=query_sizes, **options) for file in files]
    )


@service_command(datasets, "read")
def read_folder(
    session: ServiceConnection,
    folder: Annotated[
        str,
        typer.Argument(
            help="Folder below the service's RANKERY_DATA_ROOTS, such as MSLR-WEB30K/Fold1 or s3://bucket/prefix."
        ),
    ],
    part: Annotated[
        Literal["train", "validation", "test"] | None,
        typer.Option(help="Part to read.", show_default="all parts"),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the datasets.", show_default="the folder and the part")
    ] = None,
    files: Annotated[
        str | None,
        typer.Option(help="Pattern of file names; matching files become one dataset.", show_default=False),
    ] = None,
    columns: ColumnsOption = None,
) -> None:
    """Make datasets from files in a folder of the service, read in place without an upload.

    Folders with the layout of MSLR-WEB10K and 30K, Yahoo, Istella and LETOR 3.0 and 4.0 are recognised by
    their file names.

    Example: `rankery datasets read MSLR-WEB30K/Fold1`

    Example: `rankery datasets read s3://clicks/2026-05 --files 'part-*.parquet' --name May`
    """
    if columns is not None and files is None:
        raise WrongUsage("--columns needs --files")
    roles: Any = columns_of(columns)
    datasets = _parts(session, session.client.read_folder(folder, part, name, files=files, columns=roles))
    if files is None:
        say(datasets[0].corpus().sentence)
    show_all(session, datasets)


@service_command(datasets, "import")
def import_datasets(
    session: ServiceConnection,
    urls: Annotated[
        list[str] | None,
        typer.Argument(
            help="URLs s3://…, gs://…, https://…, hf:… or ir_datasets:…; several become one dataset."
            " Or upload:upl_…, a finished resumable upload.",
            metavar="URLS",
            show_default=False,
        ),
    ] = None,
    train: Annotated[str | None, typer.Option(help="URL of the training part, instead of URLS.")] = None,
    validation: Annotated[str | None, typer.Option(help="URL of the validation part.")] = None,
    test: Annotated[str | None, typer.Option(help="URL of the test part.")] = None,
    files: Annotated[
        str | None, typer.Option(help="Pattern of file names in a folder, such as part-*.parquet.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the dataset.", show_default="from the URL")
    ] = None,
    format: FormatOption = "auto",
    columns: ColumnsOption = None,
    credentials: Annotated[
        str | None, typer.Option(help="Name of credentials configured on the workers, not a secret.")
    ] = None,
    project: Annotated[str | None, typer.Option(help="Project of the dataset.")] = None,
) -> None:
    """Import judged data from a URL that RANKERY_SOURCES allows; the service reads it.

    Example: `rankery datasets import s3://clicks/2026-05 --files 'part-*.parquet' --name May`
    """
    parts = {"train": train, "validation": validation, "test": test}
    url_by_part = {part: url for part, url in parts.items() if url is not None}
    if bool(urls) == bool(url_by_part):
        raise WrongUsage("give either URLs, or --train, --validation and --test")
    source: Any = urls[0] if urls and len(urls) == 1 else urls
    first = session.client.import_dataset(
        source or None,
        name,
        parts=url_by_part or None,
        files=files,
        columns=cast("Any", columns_of(columns)),
        format=None if format == "auto" else format,
        credentials=credentials,
        project=project,
    )
    show_all(session, _parts(session, first))


def _parts(session: ServiceConnection, first: "Dataset") -> "list[Dataset]":
    """Wait until the parts of a new dataset are read, and return them; the dataset itself without parts."""
    ids = list((first.parts or {}).values()) or [first.id]
    return [wait_until_ready(session, session.client.dataset(one)) for one in ids]


@service_command(datasets, "download")
def download_dataset(
    session: ServiceConnection,
    dataset: DatasetReference,
    file: Annotated[
        Path | None,
        typer.Argument(dir_okay=False, help="File to write.", show_default="NAME.parquet or .letor"),
    ] = None,
    format: Annotated[Literal["parquet", "letor"], typer.Option(help="File format.")] = "parquet",
) -> None:
    """Download a dataset as the service read it; uploading the file gives the same dataset.

    Example: `rankery datasets download clicks clicks.parquet`
    """
    resource = dataset_of(session, dataset)
    target = resource.download(file or Path(f"{Path(resource.name).name}.{format}"), format)
    say(f"wrote {resource.name} to {target}")
    session.show({"dataset": resource.id, "path": str(target), "format": format})


@service_command(datasets, "generate")
def generate_dataset(
    session: ServiceConnection,
    queries: Annotated[int, typer.Option(min=1, max=200_000, help="Number of queries.")] = 1_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the documents and their noise.")] = 0,
    polynomial_seed: Annotated[
        int, typer.Option(min=0, help="Seed of the target function; use the same for train and test data.")
    ] = 0,
    name: Annotated[
        str | None, typer.Option(help="Name of the dataset.", show_default="from the seeds")
    ] = None,
    sparse: Annotated[
        bool,
        typer.Option("--sparse", help="Generate long lists with few relevant documents, like Istella-X."),
    ] = False,
    documents_per_query: Annotated[
        int | None, typer.Option(min=1, help="Documents per query.", show_default="50; 2,679 with --sparse")
    ] = None,
    features: Annotated[
        int | None, typer.Option(min=1, help="Number of features.", show_default="50")
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(
            min=0, help="Noise of the polynomial's value, in its standard deviations.", show_default="0"
        ),
    ] = None,
    gains: Annotated[
        str | None,
        typer.Option(help="Labels instead of 0 to 4: 0,3,7,15,31 in the 2006 paper.", show_default=False),
    ] = None,
    relevant_per_query: Annotated[
        float | None,
        typer.Option(
            min=1, help="Relevant documents per query, with --sparse.", show_default="0.17% of the documents"
        ),
    ] = None,
) -> None:
    """Make judged data from a random cubic polynomial, as in the 2006 LambdaRank paper.

    Example: `rankery datasets generate --queries 300 --seed 1 --name train`

    Example: `rankery datasets generate --sparse --documents-per-query 1000 --relevant-per-query 20`
    """
    dataset = session.client.synthetic_dataset(
        queries,
        seed=seed,
        polynomial_seed=polynomial_seed,
        name=name,
        generator="sparse" if sparse else None,
        documents_per_query=documents_per_query,
        features=features,
        noise=noise,
        gains=_numbers(gains),
        relevant_per_query=relevant_per_query,
    )
    show_all(session, [wait_until_ready(session, dataset)])


def _numbers(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(number) for number in text.split(",")]
    except ValueError as error:
        raise WrongUsage(f"--gains takes numbers separated by commas; found {text}") from error
