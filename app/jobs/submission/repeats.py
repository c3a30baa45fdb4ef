"""Repeated trainings, which show the variation of a metric by chance."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from app.jobs.requests import MAX_BATCH_JOBS, JobBatchRequest, RepeatsRequest
from app.jobs.requests.training import TrainRequest
from core.errors import InputProblem, InvalidInput
from core.jobs.train import GRID_TAG, REPEAT_TAG, TrainJob
from core.store.repositories.projects import MAX_TAGS

_SEED_LIMIT = 2**31


def check_repeats(batch: JobBatchRequest) -> None:
    """Refuse repeats of jobs that are not trainings, too many jobs or tags, and too large seeds.

    Raises:
        InvalidInput: The batch cannot be repeated so; with a pointer for each problem.
    """
    repeats = batch.repeats
    if repeats is None:
        return
    problems = [
        InputProblem(f"/jobs/{index}/kind", "must be train, since only trainings can be repeated")
        for index, request in enumerate(batch.jobs)
        if not isinstance(request, TrainRequest)
    ]
    if batch.size > MAX_BATCH_JOBS:
        problems.append(
            InputProblem(
                "/repeats/count", f"makes {batch.size} jobs; a request queues at most {MAX_BATCH_JOBS}"
            )
        )
    for index, request in enumerate(batch.jobs):
        if isinstance(request, TrainRequest):
            problems += _repeat_problems(f"/jobs/{index}", request, repeats)
    if problems:
        raise InvalidInput(*problems)


def _repeat_problems(pointer: str, request: TrainRequest, repeats: RepeatsRequest) -> Iterator[InputProblem]:
    if request.seed + repeats.count > _SEED_LIMIT:
        yield InputProblem(
            f"{pointer}/seed", f"must be at most {_SEED_LIMIT - repeats.count} with these repeats"
        )
    if len({*request.tags, GRID_TAG, REPEAT_TAG}) > MAX_TAGS:
        yield InputProblem(f"{pointer}/tags", f"must be at most {MAX_TAGS - 2} tags, since repeats add two")


def repeated_requests(
    request: TrainRequest, repeats: RepeatsRequest, now: datetime
) -> Sequence[TrainRequest]:
    """Return a copy of a request for each repeat, with its seed, and tagged with its number."""
    tags = {GRID_TAG: f"{now.astimezone(UTC):%Y-%m-%d %H:%M:%S}"} | request.tags
    sampling = {"bootstrap": True} if repeats.by == "bootstrap" else {}
    return [
        request.model_copy(
            update={
                "seed": request.seed + number,
                "tags": tags | {REPEAT_TAG: str(number + 1)},
                **sampling,
            }
        )
        for number in range(repeats.count)
    ]


def check_seed_has_effect(job: TrainJob) -> None:
    """Refuse to repeat a training whose seed has no effect: all repeats would make the same model.

    Raises:
        InvalidInput: The seed has no effect.
    """
    if not (job.training.is_random or job.parts_are_random):
        raise InvalidInput.at(
            "/seed",
            'every seed gives the same model: use "bootstrap", or set query_fraction below 1',
        )
