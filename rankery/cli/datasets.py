"""`rankery datasets`: judged data on a service."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

from rankery.cli.completion import complete_from_service
from rankery.cli.connection import ServiceConnection
from rankery.cli.findings import counts, findings_table, reading_errors
from rankery.cli.labels import Project, describe_object
from rankery.cli.options import Limit, OfProject, Permanently
from rankery.cli.printing import age, facts, moment, plain, say, table
from rankery.cli.references import dataset_of, wait_until_ready
from rankery.cli.service_options import service_command

if TYPE_CHECKING:
    from rankery.client import Dataset

datasets = typer.Typer(help="Upload, inspect and delete judged data.", no_args_is_help=True)

DatasetReference = Annotated[
    str, typer.Argument(help="The dataset's id or name.", autocompletion=complete_from_service("datasets"))
]


@service_command(datasets, "list")
def list_datasets(
    session: ServiceConnection,
    status: Annotated[
        Literal["pending", "ready", "invalid"] | None, typer.Option(help="Show only datasets in this status.")
    ] = None,
    project: OfProject = None,
    limit: Limit = 20,
) -> None:
    """List datasets, newest first.

    Example: `rankery datasets list --status ready`
    """
    show_data(
        session, islice(session.client.datasets(status, project=project), limit), "queries", "documents"
    )


@service_command(datasets, "show")
def show_dataset(session: ServiceConnection, dataset: DatasetReference) -> None:
    """Show the properties of a dataset, or why it could not be read.

    Example: `rankery datasets show train.txt`
    """
    resource = dataset_of(session, dataset)
    problem = resource.problem
    errors = [reading_errors(problem.model_dump())] if problem is not None and problem.errors else []
    session.show(resource, _properties(session, resource), *errors)


@service_command(datasets, "folders")
def list_folders(
    session: ServiceConnection,
    folder: Annotated[str, typer.Argument(help="Folder below the service's RANKERY_DATA_ROOTS.")] = ".",
) -> None:
    """List the folders that the service reads in place, and the training, validation and test files in one.

    Example: `rankery datasets folders MSLR-WEB30K`
    """
    listing = session.client.folder(folder)
    shown = table("name", "part", "bytes", right=("bytes",), wrap=("name",))
    for name in listing.folders:
        shown.add_row(plain(f"{name}/"), "", "")
    for part, file in listing.parts.items():
        shown.add_row(plain(file.file), part, plain(file.size_bytes))
    session.show(listing, shown)


@service_command(datasets, "doctor")
def doctor_dataset(session: ServiceConnection, dataset: DatasetReference) -> None:
    """Show the data check of a dataset, with advice; `rankery doctor` checks local files.

    Example: `rankery datasets doctor train.txt`
    """
    resource = dataset_of(session, dataset)
    findings = [finding.model_dump(mode="json") for finding in resource.findings or ()]
    session.show(findings, f"{_heading(resource)}\n", findings_table(findings))


@service_command(datasets, "queries")
def list_queries(
    session: ServiceConnection,
    dataset: DatasetReference,
    query: Annotated[str | None, typer.Argument(help="Id of a query, to list its documents.")] = None,
    prefix: Annotated[
        str | None, typer.Option(help="Show only queries whose id starts with this text.")
    ] = None,
    limit: Limit = 20,
) -> None:
    """List a dataset's queries, or the documents of one with their labels and features.

    Example: `rankery datasets queries train.txt --prefix 10`

    Example: `rankery datasets queries train.txt 10032`
    """
    resource = dataset_of(session, dataset)
    if query is not None:
        judged = resource.query(query, limit=limit)
        session.show(judged, _documents(judged))
        return
    entries = list(islice(resource.queries(prefix), limit))
    numbers = ("documents", "relevant", "lowest label", "highest label")
    texts = ("text",) if any(entry.query_text for entry in entries) else ()
    shown = table("query", *texts, *numbers, "columns", right=numbers, wrap=(*texts, "columns"))
    for entry in entries:
        shown.add_row(
            plain(entry.query_id),
            *(plain(entry.query_text or "") for _ in texts),
            plain(entry.documents),
            plain(entry.relevant),
            *("" if label is None else f"{label:g}" for label in (entry.min_label, entry.max_label)),
            plain(", ".join(f"{name}: {value}" for name, value in entry.columns.items())),
        )
    session.show(entries, shown)


@service_command(datasets, "read-again")
def read_again(
    session: ServiceConnection,
    dataset: DatasetReference,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be repeated; required for an upload.")
    ] = None,
) -> None:
    """Read the files of an invalid dataset again: as they are now, or without some columns.

    Example: `rankery datasets read-again judged.csv --ignore price`
    """
    resource = dataset_of(session, dataset)
    show_all(session, [wait_until_ready(session, resource.read_again(ignore or ()))])


@service_command(datasets, "describe")
def describe_dataset(
    session: ServiceConnection,
    dataset: DatasetReference,
    name: Annotated[str | None, typer.Option(help="Name of the dataset.")] = None,
    project: Project = None,
) -> None:
    """Show or change the name and the project of a dataset.

    Example: `rankery datasets describe train.txt --project search`
    """
    resource = dataset_of(session, dataset)
    describe_object(session, "datasets", resource.id, name=name, project=project)


@service_command(datasets, "delete")
def delete_datasets(
    session: ServiceConnection,
    datasets: Annotated[
        list[str],
        typer.Argument(help="Ids or names of datasets.", autocompletion=complete_from_service("datasets")),
    ],
    permanently: Permanently = False,
) -> None:
    """Delete datasets; models and evaluations made from them stay.

    Datasets move to the trash; `rankery trash restore` restores them.

    Example: `rankery datasets delete train.txt`
    """
    delete_all(session, [dataset_of(session, dataset) for dataset in datasets], permanently=permanently)


def show_data(session: ServiceConnection, listed: Iterable[Any], *units: str) -> None:
    """Print a list of datasets or click logs, with their counts of some units."""
    data = list(listed)
    shown = table("id", "name", "status", *units, "age", right=(*units, "age"), wrap=("name",))
    for one in data:
        sizes = ((one.statistics or {}).get(unit) for unit in units)
        counted = ("" if size is None else plain(size) for size in sizes)
        shown.add_row(one.id, plain(one.name), one.status, *counted, age(one.created_at))
    session.show(data, shown)


def delete_all(session: ServiceConnection, resources: Sequence[Any], **options: bool) -> None:
    """Delete resources with a name one after another, and print their ids."""
    for one in resources:
        one.delete(**options)
        say(f"deleted {one.id}, {one.name}")
    session.show([one.id for one in resources])


def show_all(session: ServiceConnection, created: "list[Dataset]") -> None:
    """Print the properties of new datasets."""
    blocks: list[Any] = []
    for dataset in created:
        blocks += [_properties(session, dataset), ""]
    session.show(created, *blocks[:-1])


def _heading(dataset: "Dataset") -> str:
    if dataset.statistics is None:
        return f"[bold]{plain(dataset.name)}[/bold]: {dataset.status}"
    return f"[bold]{plain(dataset.name)}[/bold]: {counts(dataset.statistics)}"


def _properties(session: ServiceConnection, dataset: "Dataset") -> Table:
    statistics = dataset.statistics or {}
    labels = ", ".join(f"{one['label']:g}: {one['documents']:,}" for one in statistics.get("labels", ()))
    return facts(
        [
            ("id", dataset.id),
            ("name", dataset.name),
            ("status", dataset.status),
            ("problem", dataset.problem and dataset.problem.detail),
            *((unit, statistics.get(unit)) for unit in ("queries", "documents", "features")),
            ("documents by label", labels or None),
            ("source", ", ".join(_source_words(dataset.source))),
            ("bytes", dataset.size_bytes),
            ("created", f"{moment(dataset.created_at)} UTC"),
            ("doctor", _findings_summary(session, dataset)),
        ]
    )


def _source_words(source: dict[str, Any]) -> list[str]:
    shown = {name: f"{len(value):,}" if name == "filenames" else value for name, value in source.items()}
    return [f"{name} {value}" for name, value in shown.items()]


def _findings_summary(session: ServiceConnection, dataset: "Dataset") -> str | None:
    if dataset.findings is None:
        return None
    if not dataset.findings:
        return "no findings"
    from rankery.client.display.texts import kinds

    severities = [finding.severity for finding in dataset.findings]
    plurals = {"error": "errors", "warning": "warnings", "info": "notes"}
    shown = {plurals[severity]: severities.count(severity) for severity in plurals if severity in severities}
    return f"{kinds(shown)}: {session.command(f'datasets doctor {dataset.id}')}"


def _documents(judged: Any) -> Table:
    titles = ("title",) if any(document.document_title for document in judged.documents) else ()
    shown = table("document", *titles, "label", *map(plain, judged.feature_names))
    for column in shown.columns[1 + len(titles) :]:
        column.justify = "right"
    features = [judged.feature_values(index) for index in range(len(judged.feature_names))]
    for row, document in enumerate(judged.documents):
        label = "" if document.label is None else f"{document.label:g}"
        cells = (
            "" if value is None else f"{value:g}" if isinstance(value, float) else plain(value)
            for value in (values[row] for values in features)
        )
        title = (plain(document.document_title or "") for _ in titles)
        shown.add_row(plain(document.document_id), *title, label, *cells)
    return shown
