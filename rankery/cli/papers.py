"""`rankery papers` and `experiments`: reproduction of published tables."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from rankery.cli.bulk import add_delete
from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import FAILED, Interrupted, WrongUsage
from rankery.cli.options import Limit, OfPaper, OfProject, OfStatus, Watch
from rankery.cli.paper_tables import estimate_tables, report_tables
from rankery.cli.printing import facts, plain, say, show_text, table
from rankery.cli.references import dataset_or_upload
from rankery.cli.service_options import service_command
from rankery.errors import ExperimentFailed, FileUnusable, RankeryApiError
from rankery.local_files import is_folder

if TYPE_CHECKING:
    from rankery.client import Experiment

papers = typer.Typer(help="List papers and their tables.", no_args_is_help=True)
experiments = typer.Typer(help="Reproduce the tables of papers.", no_args_is_help=True)

_Paper = Annotated[str, typer.Argument(help="Name of the paper, such as lambdaloss-2018.")]
_ReportFormat = Annotated[
    Literal["markdown", "csv", "latex"] | None,
    typer.Option(help="Format of the report; by default, tables for the terminal."),
]
_Experiment = Annotated[str, typer.Argument(help="Id of the experiment, exp_…")]
_SYNTHETIC = ("synthetic", "sparse")
_MAX_FOLDS = 20  # the limit of the service
_RANGE = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?")
_DATA_ROOTS = "RANKERY_DATA_ROOTS"
# Usual file names, such as those of MSLR and LETOR 4.0.
_FILES = {
    "train": ("train.txt",),
    "validation": ("vali.txt", "valid.txt", "validation.txt"),
    "test": ("test.txt",),
}


@service_command(papers, "list")
def list_papers(session: ServiceConnection) -> None:
    """List the papers, oldest first.

    Example: `rankery papers list`
    """
    papers = session.client.papers()
    shown = table("name", "year", "title", "tables", wrap=("title", "tables"))
    for paper in papers:
        tables = ", ".join(each.name for each in paper.tables)
        shown.add_row(plain(paper.name), str(paper.year), plain(paper.title), plain(tables))
    session.show(papers, shown)


@service_command(papers, "show")
def show_paper(session: ServiceConnection, paper: _Paper) -> None:
    """Show the tables of a paper with their trainings and the claims of the paper.

    Example: `rankery papers show lambdaloss-2018`
    """
    resource = session.client.paper(paper)
    properties = [
        ("title", resource.title),
        ("authors", resource.authors),
        ("year", str(resource.year)),
        ("corpora of the paper", ", ".join(resource.corpora)),
        ("synthetic data", resource.data),
    ]
    shown: list[Any] = [facts(properties)]
    for each in resource.tables:
        shown += ["", f"[bold]{plain(each.name)}[/bold]: {plain(each.caption)}", plain(each.protocol)]
        methods = table(
            "row", "loss", "loss options", "hyperparameters", wrap=("loss options", "hyperparameters")
        )
        for method in each.methods:
            loss = dict(method.loss or {})
            name = str(loss.pop("name", "printed only"))
            methods.add_row(plain(method.row), plain(name), _values(loss), _values(method.hyperparameters))
        claims = [f"claims ({plain(claim.source)}): {plain(claim.statement)}" for claim in each.claims]
        shown += [methods, *claims]
    session.show(resource, *shown)


@service_command(experiments, "run")
def run_paper(
    session: ServiceConnection,
    paper: _Paper,
    data: Annotated[
        str | None,
        typer.Option(
            help="Data: synthetic, sparse, or a folder with train.txt, vali.txt and test.txt.",
            show_default="the synthetic data of the paper",
        ),
    ] = None,
    tables: Annotated[
        list[str] | None,
        typer.Option("--table", help="4, table-4 or figure-2; may be repeated.", show_default="all"),
    ] = None,
    scale: Annotated[
        Literal["quick", "paper"],
        typer.Option(help="paper for the published protocol; quick for fewer trees, epochs and grid points."),
    ] = "quick",
    folds: Annotated[
        str | None, typer.Option(help="Subfolders Fold1, Fold2, … of the data folder: 1-5 or 1,3.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Train five trees or epochs of each loss, and estimate the time."),
    ] = False,
    format: _ReportFormat = None,
    watch: Watch = True,
) -> None:
    """Reproduce tables of a paper, and judge its claims.

    Trainings of earlier runs on the same data are reused, so the same command continues a stopped run.

    Example: `rankery experiments run lambdaloss-2018 --data MSLR-WEB30K/Fold1 --table 4 --dry-run`
    """
    experiment = _submit(
        session,
        paper,
        data,
        numbers_of(folds) if folds else None,
        tables=[_table_name(each) for each in tables] if tables else None,
        scale=scale,
        dry_run=dry_run,
    )
    say(f"experiment {experiment.id}: {', '.join(experiment.tables)} of {experiment.paper}")
    if not watch:
        session.show(experiment, plain(experiment.id))
        return
    _wait(session, experiment)
    _show(session, experiment, format)


@service_command(experiments, "show")
def show_experiment(
    session: ServiceConnection,
    experiment: _Experiment,
    format: _ReportFormat = None,
) -> None:
    """Show the report of an experiment, with the tables that are complete so far.

    Example: `rankery experiments show exp_01k9x2z4q7c8v5n3b6r1 --format latex`
    """
    _show(session, session.client.experiment(experiment), format)


@service_command(experiments, "list")
def list_experiments(
    session: ServiceConnection,
    paper: OfPaper = None,
    status: OfStatus = None,
    project: OfProject = None,
    limit: Limit = 20,
) -> None:
    """List experiments, newest first.

    Example: `rankery experiments list --paper lambdaloss-2018`
    """
    experiments = session.items("/v1/experiments", limit, paper=paper, status=status, project=project)
    shown = table("id", "paper", "tables", "scale", "data", "status", wrap=("tables", "data"))
    for one in experiments:
        words = (one["paper"], ", ".join(one["tables"]), one["scale"], one["data"], one["status"])
        shown.add_row(one["id"], *map(plain, words))
    session.show(experiments, shown)


@service_command(experiments, "cancel")
def cancel_experiment(session: ServiceConnection, experiment: _Experiment) -> None:
    """Cancel an experiment; its finished trainings stay, and the same `rankery experiments run` continues it.

    Example: `rankery experiments cancel exp_01k9x2z4q7c8v5n3b6r1`
    """
    resource = session.client.experiment(experiment).cancel()
    say(f"{resource.id} is {resource.status}")
    session.show(resource)


add_delete(experiments, "experiments", "--paper lambdaloss-2018 --older-than 30 --yes")


def numbers_of(text: str) -> list[int]:
    """Parse a comma-separated list of numbers and ranges.

    Raises:
        WrongUsage: The text is not such a list.

    Example:
        >>> numbers_of("1-3,5")
        [1, 2, 3, 5]
    """
    numbers: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last:
            raise WrongUsage(f"--folds {text}: write numbers like 1-5 or 1,3")
        numbers += range(first, last + 1)
    if len(numbers) > _MAX_FOLDS:
        raise WrongUsage(f"--folds {text}: at most {_MAX_FOLDS} folds")
    return numbers


def _table_name(name: str) -> str:
    return f"table-{name}" if name.isdecimal() else name.lower().replace(" ", "-")


def _submit(
    session: ServiceConnection, paper: str, data: str | None, folds: list[int] | None, **options: Any
) -> "Experiment":
    """Submit an experiment; upload a folder that the service may not read in place."""
    folder = Path(data) if data is not None and data not in _SYNTHETIC and is_folder(data) else None
    if data is None or folder is None:
        return session.client.run_experiment(paper, data=data, folds=folds, **options)
    # An embedded service starts at the first use of `client`, and reads the environment then.
    with _allow_reading(folder):
        client = session.client
    for name in dict.fromkeys((data, str(folder.resolve()))):
        try:
            return client.run_experiment(paper, data=name, folds=folds, **options)
        except RankeryApiError as refused:
            pointers = {error.get("pointer") for error in refused.problem.get("errors") or ()}
            if pointers != {"/data"}:
                raise
            refusal = refused
    if folds is not None:
        raise refusal
    say(f"the service cannot read {folder} in place; uploading its files")
    dataset_ids = {part: dataset_or_upload(session, str(_file_of(folder, part))).id for part in _FILES}
    return client.run_experiment(paper, dataset_ids=dataset_ids, **options)


@contextmanager
def _allow_reading(folder: Path) -> Iterator[None]:
    """Allow an embedded service to read the folder, unless data roots are set already."""
    if _DATA_ROOTS in os.environ:
        yield
        return
    path = folder.resolve()
    is_fold = path.name.lower().startswith("fold")
    os.environ[_DATA_ROOTS] = str(path.parent.parent if is_fold else path.parent)
    try:
        yield
    finally:
        del os.environ[_DATA_ROOTS]


def _file_of(folder: Path, part: str) -> Path:
    path = next((folder / name for name in _FILES[part] if (folder / name).is_file()), None)
    if path is None:
        raise FileUnusable(f"{folder} has no {' or '.join(_FILES[part])}")
    return path


def _wait(session: ServiceConnection, experiment: "Experiment") -> None:
    try:
        experiment.wait(lambda _: session.check())
    except ExperimentFailed:
        if experiment.report is None:
            raise
    except KeyboardInterrupt:
        raise Interrupted(
            f"stopped watching {experiment.id}; the same command reuses the trainings finished by then"
        ) from None


def _show(session: ServiceConnection, experiment: "Experiment", format: str | None) -> None:
    if session.json:
        session.show(experiment)
    elif experiment.estimate is not None:
        session.show(experiment, *estimate_tables(experiment.estimate))
    elif format is not None:
        show_text(experiment.download_report(cast("Literal['markdown', 'csv', 'latex']", format)))
    elif experiment.report is not None:
        sentence = [f"[bold]{plain(experiment.sentence)}[/bold]"] if experiment.sentence else []
        title = f"[bold]{plain(experiment.title)}[/bold] ({experiment.year})"
        session.show(experiment, title, *report_tables(experiment.report), "", *sentence)
    else:
        say(f"{experiment.id} is {experiment.status}: no table is complete yet")
    if experiment.status == "failed":
        raise typer.Exit(FAILED)


def _values(values: dict[str, Any]) -> str:
    return plain(", ".join(f"{name} {value}" for name, value in values.items()))
