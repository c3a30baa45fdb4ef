"""Routes to submit, follow and cancel jobs."""

from typing import Annotated

from fastapi import Body, Query
from pydantic import Field
from starlette.responses import Response

from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency
from app.http.labels import ProjectFilter, TagFilters, tag_filters
from app.http.lists import ListQuery, Prefix, SelectedFields, list_query
from app.http.openapi import body_problems, etag_responses, problems
from app.http.route import ACCEPTED, JsonRoute, PolledRoute, Router, accepted
from app.http.schemas import Id, SearchText
from app.http.services import UseServices
from app.jobs.cancellation import SELECTION_EXAMPLES, JobSelection, cancel_all, delete_artifacts_of
from app.jobs.candidates import AutoTrainCandidates, candidates_of
from app.jobs.learning_curves import histories, history
from app.jobs.requests import JobBatchRequest, JobRequest
from app.jobs.requests.examples import BATCH_EXAMPLES, REQUEST_EXAMPLES
from app.jobs.schemas import (
    CHANGE_EXAMPLES,
    ORDER_DESCRIPTION,
    CancelledJobs,
    Job,
    JobBatch,
    JobChanges,
    JobHistories,
    JobHistory,
    JobPage,
    JobWithAttempts,
)
from app.jobs.submission import submit, submit_all
from core.jobs import JobKind, JobStatus
from core.store.repositories.jobs import ORDERS, Jobs

router = Router(prefix="/v1/jobs", tags=["jobs"], route_class=JsonRoute)
polled_router = Router(prefix="/v1/jobs", tags=["jobs"], route_class=PolledRoute)

MAX_HISTORIES = 100
_JobAfter = Annotated[str, Field(max_length=80, pattern=r"^[!-9;-~]{1,64}(:[0-9]{1,9})?$")]


@router.post(
    "", summary="Submit a job", status_code=ACCEPTED, response_model=Job, responses=body_problems(404, 409)
)
def create_job(
    body: Annotated[JobRequest, Body(openapi_examples=REQUEST_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Queue a job of any kind, such as a training, an evaluation, a ranking or a comparison.

    All checks run now: a request that names a missing or unready object, or is out of bounds, is refused
    and never becomes a job.
    """
    with idempotency.begin(services.store) as tx:
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        job = submit(tx, body, caller.key_id)
        created = idempotency.keep(tx, accepted(Job.of(tx, job), f"/v1/jobs/{job.id}"))
    services.wake_workers(job)
    return created


@router.post(
    "/batch",
    summary="Submit several jobs",
    status_code=ACCEPTED,
    response_model=JobBatch,
    responses=body_problems(404, 409),
)
def create_jobs(
    body: Annotated[JobBatchRequest, Body(openapi_examples=BATCH_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Queue all of several jobs, such as the trainings of a grid, or none of them.

    Each job is checked as if sent alone. A problem of any job refuses all; pointers begin with `/jobs/` and
    the position of the job.
    """
    with idempotency.begin(services.store) as tx:
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs, body.size)
        jobs = submit_all(tx, body, caller.key_id)
        created = idempotency.keep(tx, accepted(JobBatch(jobs=Job.all_of(tx, jobs)), "/v1/jobs"))
    services.wake_workers(*jobs)
    return created


_Listing = Annotated[ListQuery, list_query(Job, [*Jobs.columns, *ORDERS], ORDER_DESCRIPTION)]


@polled_router.get("", summary="List jobs", responses=etag_responses(422))
def list_jobs(
    services: UseServices,
    listing: _Listing,
    status: Annotated[JobStatus | None, Query(description="Only jobs in this status")] = None,
    kind: Annotated[JobKind | None, Query(description="Only jobs of this kind")] = None,
    dataset: Annotated[Id | None, Query(description="Only jobs that read or make this dataset")] = None,
    object: Annotated[
        Id | None,
        Query(
            description="Only jobs whose specification has this id, such as that of a click log, a model"
            " version or a ranking"
        ),
    ] = None,
    tag: TagFilters = [],  # noqa: B006 - FastAPI copies it
    project: ProjectFilter = None,
    text: Annotated[
        SearchText | None,
        Query(description="Only jobs whose name contains this text, or whose id is this text"),
    ] = None,
    prefix: Prefix = None,
    id: Annotated[
        list[Id] | None, Query(min_length=1, max_length=MAX_HISTORIES, description="Only jobs with these ids")
    ] = None,
    folded: Annotated[
        bool,
        Query(
            description="Whether to leave out the candidates of automatic trainings, and all trials of each"
            " study except the last"
        ),
    ] = False,
) -> JobPage | SelectedFields:
    """List jobs, newest first by default."""
    with services.store.read() as tx:
        page = tx.jobs.page(
            **listing.paging,
            status=status,
            kind=kind,
            dataset_id=dataset,
            object_id=object,
            project=project,
            tags=tag_filters(tag),
            text=text,
            prefix=prefix,
            job_ids=id,
            folded=folded,
        )
        items = Job.all_of(tx, page.items)
    return listing.page(JobPage, items, page.next_cursor)


# Declared before the route of one job, which would match `histories` as an id.
@polled_router.get("/histories", summary="Show curves of several jobs", responses=etag_responses(422))
def get_job_histories(
    services: UseServices,
    job: Annotated[
        list[_JobAfter],
        Query(
            min_length=1,
            max_length=MAX_HISTORIES,
            description="Ids of jobs; `id:120` returns only the iterations above 120",
            examples=[["job_01k9x2z4q7c8v5n3b6r1:120", "job_01k9x2z4q7c8v5n3b6r2"]],
        ),
    ],
    times: Annotated[
        bool, Query(description="Whether to add `milliseconds`, the times of the iterations")
    ] = False,
) -> JobHistories:
    """Show the metrics of every iteration of several jobs, so that a page can follow them all.

    Send the last known iteration with each id to poll for new ones. `missing` lists the unknown ids.
    """
    after = {}
    for each in job:
        job_id, _, iteration = each.partition(":")
        after[job_id] = int(iteration or 0)
    with services.store.read() as tx:
        return histories(tx, after, times=times)


@polled_router.get("/{job_id}", summary="Show a job", responses=etag_responses(404))
def get_job(job_id: str, services: UseServices) -> JobWithAttempts:
    """Show a job's status, progress, latest metrics, attempts, and its result or problem once it ended."""
    with services.store.read() as tx:
        return JobWithAttempts.of(tx, tx.jobs.get(job_id))


@polled_router.get("/{job_id}/history", summary="Show learning curves", responses=etag_responses(404, 422))
def get_job_history(
    job_id: str,
    services: UseServices,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="Only iterations above this one")] = 0,
) -> JobHistory:
    """Show the metrics of every iteration so far; with `after`, only the later ones.

    A cross-validation adds the values of each fold to earlier iterations: omit `after` to see them.
    """
    with services.store.read() as tx:
        return history(tx, job_id, after)


@polled_router.get(
    "/{job_id}/candidates",
    summary="Show the candidates of an automatic training",
    responses=etag_responses(404),
)
def list_job_candidates(job_id: str, services: UseServices) -> AutoTrainCandidates:
    """Show the candidates that an automatic training has tried, is trying and has chosen.

    The `value` of a candidate is measured on held-out queries; for the best of many candidates it is
    optimistic. The `value` of the `conclusion` is not.
    """
    with services.store.read() as tx:
        return candidates_of(tx, job_id)


@router.patch("/{job_id}", summary="Label a job", responses=body_problems(404))
def change_job(
    job_id: str, body: Annotated[JobChanges, Body(openapi_examples=CHANGE_EXAMPLES)], services: UseServices
) -> Job:
    """Change a job's name, notes, tags and project; omitted fields stay.

    Objects that the job made move with it to another project, except models, whose project is that of their
    name.
    """
    changes = {name: getattr(body, name) for name in body.model_fields_set - {"tags"}}
    with services.store.begin() as tx:
        job = tx.jobs.label(job_id, changes, body.tags)
        return Job.of(tx, job)


@router.post("/cancel", summary="Cancel several jobs", responses=body_problems())
def cancel_jobs(
    body: Annotated[JobSelection, Body(openapi_examples=SELECTION_EXAMPLES)], services: UseServices
) -> CancelledJobs:
    """Stop several jobs, and return the outcome for each.

    A job that has already ended stays as it is, so that the request may be sent again.
    """
    return CancelledJobs(items=cancel_all(services.store, body.ids))


@router.post(
    "/{job_id}/cancel",
    summary="Cancel a job",
    status_code=ACCEPTED,
    response_model=Job,
    responses=problems(404, 409),
)
def cancel_job(job_id: str, services: UseServices) -> Response:
    """Stop a job: immediately while it is queued, within moments while it runs."""
    with services.store.begin() as tx:
        job = tx.jobs.request_cancel(job_id)
        view = Job.of(tx, job)
    delete_artifacts_of(services.store, [job])
    return accepted(view, f"/v1/jobs/{job_id}")
