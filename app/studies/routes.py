"""Routes of studies and their trials."""

from collections import Counter
from typing import Annotated

from fastapi import Body, Query
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from app.http.admission.expensive_reads import UseExpensive
from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency
from app.http.labels import ProjectFilter
from app.http.lists import ListQuery, Prefix, SelectedFields, list_query
from app.http.openapi import body_problems, etag_responses, problems
from app.http.route import ACCEPTED, JsonRoute, PolledRoute, Router, accepted
from app.http.schemas import Cursor, Id
from app.http.services import Services, UseServices
from app.jobs.cancellation import cancel_all
from app.studies import requests
from app.studies.schemas import Study, StudyImportance, StudyPage, Trial, TrialPage
from app.studies.submission import budget_of, check_parameters, cloned, study_spec
from core.errors import InvalidInput
from core.store import Study as StudyRow
from core.store import Transaction
from core.store.repositories.studies import Studies
from core.store.repositories.study_progress import StudyStatus
from core.studies import StudySpec
from core.studies.pruning import past_trials
from core.studies.sampling import METHOD, PastTrial, importances

router = Router(prefix="/v1/studies", tags=["studies"], route_class=JsonRoute)
polled_router = Router(prefix="/v1/studies", tags=["studies"], route_class=PolledRoute)


@router.post(
    "",
    summary="Submit a study",
    status_code=ACCEPTED,
    response_model=Study,
    responses=body_problems(404, 409),
)
def create_study(
    body: Annotated[requests.StudyRequest, Body(openapi_examples=requests.STUDY_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Tune a training: queue the first trials, of which number 0 is the unchanged base.

    Each trial is a job of kind `trial`. At the end winner and default are trained on all queries except the
    held-out ones, and compared on the held-out queries.
    """
    with idempotency.begin(services.store) as tx:
        study = _submit(tx, services, body, caller.key_id)
        created = idempotency.keep(tx, accepted(_response(tx, study), f"/v1/studies/{study.id}"))
        queued = tx.studies.active_jobs(study.id)
    _wake(services, queued)
    return created


_Listing = Annotated[ListQuery, list_query(Study, Studies.columns, "Sort key; `best` is the best value")]


@polled_router.get("", summary="List studies", responses=etag_responses(422))
def list_studies(
    services: UseServices,
    listing: _Listing,
    status: Annotated[StudyStatus | None, Query(description="Only studies in this status")] = None,
    dataset: Annotated[Id | None, Query(description="Only studies on this dataset")] = None,
    project: ProjectFilter = None,
    prefix: Prefix = None,
) -> StudyPage | SelectedFields:
    """List studies, newest first by default."""
    with services.store.read() as tx:
        page = tx.studies.page(
            **listing.paging,
            status=status,
            dataset_id=dataset,
            project=project,
            prefix=prefix,
        )
        counts = tx.studies.counts([study.id for study in page.items])
    items = [Study.of(study, counts[study.id]) for study in page.items]
    return listing.page(StudyPage, items, page.next_cursor)


@polled_router.get("/{study_id}", summary="Show a study", responses=etag_responses(404))
def get_study(study_id: str, services: UseServices) -> Study:
    """Show a study's status, counts, best trial, and its conclusion once it has ended."""
    with services.store.read() as tx:
        return _response(tx, tx.studies.get(study_id))


@polled_router.get("/{study_id}/trials", summary="List trials", responses=etag_responses(404, 422))
def list_trials(
    study_id: str,
    services: UseServices,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of items per page")] = 200,
) -> TrialPage:
    """List the trials of a study by number."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 8):
        raise InvalidInput.at("/cursor", "must be the next_cursor of the previous page")
    with services.store.read() as tx:
        tx.studies.get(study_id)
        rows = tx.studies.trials(study_id, after=-1 if cursor is None else int(cursor), limit=limit + 1)
    items = [Trial.of(row) for row in rows[:limit]]
    return TrialPage(items=items, next_cursor=str(items[-1].number) if len(rows) > limit else None)


@router.post(
    "/{study_id}/trials",
    summary="Add a trial",
    status_code=ACCEPTED,
    response_model=Trial,
    responses=body_problems(404, 409),
)
def add_trial(
    study_id: str,
    body: Annotated[requests.HandTrialRequest, Body(openapi_examples=requests.TRIAL_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Queue a trial with given parameters, beyond the budget; the sampler learns from this trial, too."""
    with idempotency.begin(services.store) as tx:
        check_parameters(tx.studies.get(study_id).spec, body.parameters)
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        trial = tx.studies.add_trial(study_id, body.parameters)
        created = idempotency.keep(tx, accepted(Trial.of(trial), f"/v1/studies/{study_id}/trials"))
    _wake(services, [trial.job_id])
    return created


@router.post("/{study_id}/pause", summary="Pause a study", responses=problems(404, 409))
def pause_study(study_id: str, services: UseServices) -> Study:
    """Queue no further trials; queued and running trials still finish."""
    with services.store.begin() as tx:
        return _response(tx, tx.studies.pause(study_id))


@router.post("/{study_id}/resume", summary="Resume a study", responses=problems(404, 409))
def resume_study(study_id: str, services: UseServices) -> Study:
    """Queue trials again."""
    with services.store.begin() as tx:
        row = tx.studies.resume(study_id)
        _check_quota(tx, services, row)
        study, queued = _response(tx, row), tx.studies.active_jobs(study_id)
    _wake(services, queued)
    return study


@router.post("/{study_id}/cancel", summary="Cancel a study", responses=problems(404, 409))
def cancel_study(study_id: str, services: UseServices) -> Study:
    """Stop a study: queued jobs immediately, running ones within moments. There is no conclusion."""
    with services.store.begin() as tx:
        tx.studies.cancel(study_id)
        active = tx.studies.active_jobs(study_id)
    cancel_all(services.store, active)  # in other transactions: a worker locks a trial's job before its study
    with services.store.read() as tx:
        return _response(tx, tx.studies.get(study_id))


@router.post(
    "/{study_id}/clone",
    summary="Clone a study",
    status_code=ACCEPTED,
    response_model=Study,
    responses=body_problems(404, 409),
)
def clone_study(
    study_id: str,
    body: Annotated[requests.CloneRequest, Body(openapi_examples=requests.CLONE_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Submit a new study with the specification of another study, except for the given fields.

    Trials are not copied. Held-out queries that were used before are no longer independent.
    """
    with idempotency.begin(services.store) as tx:
        origin = tx.studies.get(study_id)
        trials = min(
            origin.trials, requests.MAX_TRIALS
        )  # trials by hand are added beyond the maximum of a request
        budget = {"trials": trials, "seconds": origin.seconds, "patience": origin.patience}
        request = cloned(origin.spec, budget, origin.parallel_trials, body)
        study = _submit(tx, services, request, caller.key_id, origin)
        created = idempotency.keep(tx, accepted(_response(tx, study), f"/v1/studies/{study.id}"))
        queued = tx.studies.active_jobs(study.id)
    _wake(services, queued)
    return created


@router.patch("/{study_id}", summary="Change a study's budget", responses=body_problems(404, 409))
def change_study(
    study_id: str,
    body: Annotated[requests.StudyChanges, Body(openapi_examples=requests.CHANGE_EXAMPLES)],
    services: UseServices,
) -> Study:
    """Change the budget or the number of parallel trials of a running or paused study."""
    changes = {name: getattr(body, name) for name in body.model_fields_set}
    for name in ("trials", "parallel_trials"):
        if name in changes and changes[name] is None:
            raise InvalidInput.at(f"/{name}", "must not be null")
    with services.store.begin() as tx:
        before = set(tx.studies.active_jobs(study_id))
        row = tx.studies.change_budget(study_id, **changes)
        study, queued = _response(tx, row), tx.studies.active_jobs(study_id)
        if set(queued) - before:
            _check_quota(tx, services, row)
    _wake(services, queued)
    return study


@router.get(
    "/{study_id}/importance", summary="Show the importance of parameters", responses=etag_responses(404)
)
async def get_study_importance(
    study_id: str, services: UseServices, expensive: UseExpensive
) -> StudyImportance:
    """Show the importance of each parameter for the value of a trial, from the trials with a value."""
    spec, past = await run_in_threadpool(_spec_and_past_trials, services, study_id)

    def computed() -> StudyImportance:
        by_pointer = importances(spec.space, past, higher_is_better=spec.higher_is_better)
        return StudyImportance(method=METHOD, trials=len(past), importances=by_pointer)

    return await expensive.answer(("study-importance", study_id, len(past)), computed)


def _spec_and_past_trials(services: Services, study_id: str) -> tuple[StudySpec, list[PastTrial]]:
    with services.store.read() as tx:
        study, rows = tx.studies.get(study_id), tx.studies.trials(study_id)
    return StudySpec(study.spec), [trial for trial in past_trials(rows) if trial.value is not None]


def _submit(
    tx: Transaction,
    services: Services,
    request: requests.StudyRequest,
    key_id: str | None,
    origin: StudyRow | None = None,
) -> StudyRow:
    spec = study_spec(tx, request)
    tx.quotas.allow_jobs(key_id, services.settings.max_active_jobs, request.parallel_trials)
    budget, parallel = budget_of(request), request.parallel_trials
    return tx.studies.add(spec, budget, parallel, key_id, request.project, origin)


def _check_quota(tx: Transaction, services: Services, study: StudyRow) -> None:
    """Refuse a change that has queued more jobs than the API key of the study may have."""
    added = len(tx.studies.active_jobs(study.id))
    tx.quotas.allow_jobs(study.key_id, services.settings.max_active_jobs, adding=0, added=added)


def _response(tx: Transaction, study: StudyRow) -> Study:
    counts: Counter[str] = tx.studies.counts([study.id])[study.id]
    return Study.of(study, counts)


def _wake(services: Services, job_ids: list[str]) -> None:
    """Wake workers for queued jobs after they were committed."""
    with services.store.read() as tx:
        jobs = tx.jobs.get_many(job_ids)
    services.wake_workers(*jobs)
