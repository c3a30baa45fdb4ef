"""Routes of papers and experiments."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Body, Query
from starlette.responses import Response

from app.experiments import schemas
from app.experiments.submission import submit_experiment
from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency
from app.http.labels import ProjectFilter
from app.http.lists import ListQuery, Prefix, SelectedFields, list_query
from app.http.openapi import body_problems, etag_responses, problems
from app.http.route import ACCEPTED, JsonRoute, PolledRoute, Router, accepted
from app.http.services import Services, UseServices
from app.jobs.cancellation import delete_artifacts_of
from core.errors import NotFound, WrongState
from core.experiments import PAPERS, Table, papers
from core.experiments.render import to_csv, to_latex, to_markdown
from core.store import Experiment as ExperimentRow
from core.store import Transaction
from core.store.repositories.experiments import Experiments


def _table(table: Table) -> schemas.PaperTable:
    methods = {entry.row: entry.method for entry in reversed(table.entries) if entry.method is not None}
    computed = {
        "protocol": table.protocol.description,
        "test": table.significance.description if table.significance else None,
        "methods": [
            schemas.PaperMethod.model_validate({**vars(method), "row": row})
            for row in table.rows
            if (method := methods.get(row)) is not None
        ],
        "printed": {
            corpus: {
                row: {column: vars(printed) for column, printed in cells.items()}
                for row, cells in rows.items()
            }
            for corpus, rows in table.printed.items()
        },
    }
    return schemas.PaperTable.model_validate({**vars(table), **computed})


papers_router = Router(prefix="/v1/papers", tags=["experiments"], route_class=JsonRoute)
router = Router(prefix="/v1/experiments", tags=["experiments"], route_class=JsonRoute)
polled_router = Router(prefix="/v1/experiments", tags=["experiments"], route_class=PolledRoute)

_WRITERS = {"markdown": to_markdown, "csv": to_csv, "latex": to_latex}
_MEDIA_TYPES = {"markdown": "text/markdown", "csv": "text/csv", "latex": "application/x-latex"}
_REPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The report",
        "content": {media_type: {"schema": {"type": "string"}} for media_type in _MEDIA_TYPES.values()},
    }
}


@papers_router.get("", summary="List papers", responses=etag_responses())
def list_papers() -> schemas.PaperList:
    """List the papers whose tables can be trained and measured again."""
    return schemas.PaperList(items=[schemas.PaperEntry.model_validate(paper) for paper in papers()])


@papers_router.get("/{name}", summary="Show a paper", responses=etag_responses(404))
def get_paper(name: str) -> schemas.Paper:
    """Show a paper's tables with methods, claims and printed numbers, and deviations from its set-up."""
    if name not in PAPERS:
        raise NotFound("paper", name)
    paper = PAPERS[name]
    return schemas.Paper.model_validate({**vars(paper), "tables": [_table(table) for table in paper.tables]})


@router.post(
    "",
    summary="Run an experiment",
    status_code=ACCEPTED,
    response_model=schemas.Experiment,
    responses=body_problems(404, 409),
)
def create_experiment(
    body: Annotated[schemas.ExperimentRequest, Body(openapi_examples=schemas.REQUEST_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Train and measure tables of a paper again.

    Its trainings are jobs of low priority; equal trainings of earlier experiments are reused.
    """
    with idempotency.begin(services.store) as tx:
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        row, jobs = submit_experiment(tx, services.settings, body, caller.key_id)
        shown = _with_report(services, row, _fields(tx, [row])[0])
        created = idempotency.keep(tx, accepted(shown, f"/v1/experiments/{row.id}"))
    services.wake_workers(*jobs)
    return created


_Listing = Annotated[ListQuery, list_query(schemas.ExperimentEntry, Experiments.columns)]


@polled_router.get("", summary="List experiments", responses=etag_responses(422))
def list_experiments(
    services: UseServices,
    listing: _Listing,
    status: Annotated[schemas.Status | None, Query(description="Only experiments in this status")] = None,
    paper: Annotated[schemas.PaperName | None, Query(description="Only experiments of this paper")] = None,
    project: ProjectFilter = None,
    prefix: Prefix = None,
) -> schemas.ExperimentPage | SelectedFields:
    """List experiments without their reports, newest first by default."""
    with services.store.read() as tx:
        page = tx.experiments.page(
            **listing.paging,
            status=status,
            paper=paper,
            project=project,
            prefix=prefix,
        )
        items = [schemas.ExperimentEntry.model_validate(fields) for fields in _fields(tx, page.items)]
    return listing.page(schemas.ExperimentPage, items, page.next_cursor)


@router.get("/{experiment_id}", summary="Show an experiment", responses=etag_responses(404))
def get_experiment(experiment_id: str, services: UseServices) -> schemas.Experiment:
    """Show the progress of an experiment, with its report after each complete table and at the end."""
    with services.store.read() as tx:
        row = tx.experiments.get(experiment_id)
        fields = _fields(tx, [row])[0]
    return _with_report(services, row, fields)


@polled_router.get(
    "/{experiment_id}/trainings", summary="List the trainings of an experiment", responses=etag_responses(404)
)
def list_experiment_trainings(experiment_id: str, services: UseServices) -> schemas.ExperimentTrainings:
    """List every training that an experiment needs, with its job."""
    with services.store.read() as tx:
        tx.experiments.get(experiment_id)
        states = tx.experiments.trainings(experiment_id)
    return schemas.ExperimentTrainings(
        items=[
            schemas.ExperimentTraining(
                digest=state.row.digest,
                fold=state.row.fold,
                method=state.row.spec["tags"]["method"],
                loss=state.row.spec["loss"],
                hyperparameters=state.row.spec["hyperparameters"],
                scorer=state.row.spec.get("scorer"),
                status=state.status,
                shared=state.row.is_shared,
                job_id=state.row.job_id,
                evaluation_job_id=state.row.evaluation_job_id,
                value=state.job and state.job.main_metric,
                problem=state.job and state.job.problem,
            )
            for state in states
        ]
    )


@router.get(
    "/{experiment_id}/report",
    summary="Download the report of an experiment",
    response_class=Response,
    responses={**_REPORT, **etag_responses(404, 409, 422)},
)
def get_experiment_report(
    experiment_id: str,
    services: UseServices,
    format: Annotated[
        Literal["markdown", "csv", "latex"], Query(description="Format of the report")
    ] = "markdown",
) -> Response:
    """Return the latest report as Markdown, CSV with a line per number, or LaTeX tables with booktabs."""
    with services.store.read() as tx:
        row = tx.experiments.get(experiment_id)
    report = _report_and_estimate(services, row)["report"]
    if report is None:
        detail = "a dry run has no report" if row.dry_run else "no table is complete yet"
        raise WrongState("experiment", row.id, row.status, detail)
    media_type = f"{_MEDIA_TYPES[format]}; charset=utf-8"
    return Response(_WRITERS[format](report), headers={"Content-Type": media_type})


@router.post(
    "/{experiment_id}/cancel",
    summary="Cancel an experiment",
    status_code=ACCEPTED,
    response_model=schemas.Experiment,
    responses=problems(404, 409),
)
def cancel_experiment(experiment_id: str, services: UseServices) -> Response:
    """Stop an experiment and its trainings, except those that another experiment waits for."""
    with services.store.begin() as tx:
        row, jobs = tx.experiments.cancel(experiment_id)
        fields = _fields(tx, [row])[0]
    delete_artifacts_of(services.store, jobs)
    return accepted(_with_report(services, row, fields), f"/v1/experiments/{experiment_id}")


@router.post(
    "/{experiment_id}/resume",
    summary="Resume an experiment",
    status_code=ACCEPTED,
    response_model=schemas.Experiment,
    responses=problems(404, 409),
)
def resume_experiment(experiment_id: str, services: UseServices) -> Response:
    """Continue an experiment: queue failed and cancelled trainings again, and keep the others."""
    with services.store.begin() as tx:
        row = tx.experiments.resume(experiment_id)
        fields = _fields(tx, [row])[0]
    return accepted(_with_report(services, row, fields), f"/v1/experiments/{experiment_id}")


def _fields(tx: Transaction, rows: Sequence[ExperimentRow]) -> list[dict[str, Any]]:
    """Return the fields of the responses of experiments, without their reports."""
    counts = tx.experiments.counts(row.id for row in rows)
    return [row.column_values() | _of_paper(row) | {"counts": counts[row.id]} for row in rows]


def _of_paper(row: ExperimentRow) -> dict[str, Any]:
    paper = PAPERS.get(row.paper)  # this release may lack the paper
    return {
        "title": paper.title if paper else row.paper,
        "year": paper.year if paper else 0,
        "tables": row.tables or [table.name for table in (paper.tables if paper else ())],
        "data": row.source or row.data,
    }


def _with_report(services: Services, row: ExperimentRow, fields: dict[str, Any]) -> schemas.Experiment:
    """Return the response of an experiment. Reading a report may be slow: hold no transaction meanwhile."""
    return schemas.Experiment.model_validate(fields | _report_and_estimate(services, row))


def _report_and_estimate(services: Services, row: ExperimentRow) -> dict[str, Any]:
    """Return the latest report and estimate, both None before the first report."""
    if row.report_key is None:
        return {"report": None, "estimate": None}
    with services.store.verified.open(row.report_key) as file:
        document: dict[str, Any] = json.load(file)
    return document
