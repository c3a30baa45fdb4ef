"""Routes that delete one object or a selection of objects."""

from typing import Annotated, Any

from fastapi import Body, Path, Query, Request

from app.http.openapi import body_problems, problems
from app.http.route import JsonRoute, Router
from app.http.services import UseServices
from app.lifecycle import filters
from app.lifecycle.deleting import actor_of, delete_many, delete_one
from app.lifecycle.schemas import DatasetDeletionRequest, DeletedDataset, DeletedDatasets, Deletion
from core.errors import NotFound, StillNeeded
from core.store.trash import kinds

router = Router(prefix="/v1", route_class=JsonRoute)

WithResults = Annotated[bool, Query(description="Delete the results of the object as well")]
Permanently = Annotated[bool, Query(description="Free the bytes immediately, without the trash")]
_ONE = problems(404, 409, 422)
_MANY = body_problems()


_DATASETS_EXAMPLES: Any = {
    "two": {
        "summary": "Two datasets",
        "value": {"ids": ["ds_01k9x2m4q7c8v5n3b6r1", "ds_01k9x2m4q7c8v5n3b6r2"]},
    }
}


def _examples(filter: dict[str, Any], prefix: str) -> Any:
    return {
        "preview": {
            "summary": "List the objects to delete with all results, without deleting them",
            "value": {"filter": filter, "with_results": True},
        },
        "delete": {
            "summary": "Move two objects to the trash",
            "value": {
                "ids": [f"{prefix}01k9x2z4q7c8v5n3b6r1", f"{prefix}01k9x2z4q7c8v5n3b6r2"],
                "dry_run": False,
            },
        },
    }


@router.delete("/jobs/{job_id}", summary="Delete a job", tags=["jobs"], responses=_ONE)
def delete_job(
    job_id: str, request: Request, with_results: WithResults = False, permanently: Permanently = False
) -> Deletion:
    """Move a job to the trash; 409 with `holders` while it has dependents or results.

    Holders are aliases, comparisons, interleavings, schedules, studies, experiments and active jobs.
    """
    return delete_one(request, kinds.JOB, job_id, with_results=with_results, permanently=permanently)


@router.delete("/models/{ref}", summary="Delete a model", tags=["models"], responses=_ONE)
def delete_model(
    ref: Annotated[str, Path(description="Id or reference of the version", examples=["web:3"])],
    request: Request,
    services: UseServices,
    with_results: WithResults = False,
    permanently: Permanently = False,
) -> Deletion:
    """Move one version of a model to the trash; its number is not reused.

    409 with `holders` while it has dependents, evaluations, rankings or inspections.
    """
    with services.store.read() as tx:
        model_id = tx.models.resolve(ref).id
    return delete_one(request, kinds.MODEL, model_id, with_results=with_results, permanently=permanently)


@router.delete(
    "/evaluations/{evaluation_id}", summary="Delete an evaluation", tags=["results"], responses=_ONE
)
def delete_evaluation(evaluation_id: str, request: Request, permanently: Permanently = False) -> Deletion:
    """Move an evaluation to the trash; 409 while a study or an experiment needs it."""
    return delete_one(request, kinds.EVALUATION, evaluation_id, permanently=permanently)


@router.delete(
    "/comparisons/{comparison_id}", summary="Delete a comparison", tags=["results"], responses=_ONE
)
def delete_comparison(comparison_id: str, request: Request, permanently: Permanently = False) -> Deletion:
    """Move a comparison to the trash; the rankings that it stored stay. 409 while a study needs it."""
    return delete_one(request, kinds.COMPARISON, comparison_id, permanently=permanently)


@router.delete("/rankings/{ranking_id}", summary="Delete a ranking", tags=["results"], responses=_ONE)
def delete_ranking(
    ranking_id: str, request: Request, with_results: WithResults = False, permanently: Permanently = False
) -> Deletion:
    """Move a ranking to the trash; 409 with `holders` while it has dependents or evaluations.

    Holders are comparisons, studies, experiments and active jobs.
    """
    return delete_one(request, kinds.RANKING, ranking_id, with_results=with_results, permanently=permanently)


@router.delete(
    "/inspections/{inspection_id}", summary="Delete an inspection", tags=["results"], responses=_ONE
)
def delete_inspection(inspection_id: str, request: Request, permanently: Permanently = False) -> Deletion:
    """Move an inspection to the trash."""
    return delete_one(request, kinds.INSPECTION, inspection_id, permanently=permanently)


@router.delete(
    "/experiments/{experiment_id}", summary="Delete an experiment", tags=["experiments"], responses=_ONE
)
def delete_experiment(experiment_id: str, request: Request, permanently: Permanently = False) -> Deletion:
    """Move an experiment with its reports to the trash; 409 while it is active.

    Jobs and models of the experiment stay, and can be deleted separately: trainings have the tag `grid`
    with the experiment's id.
    """
    return delete_one(request, kinds.EXPERIMENT, experiment_id, permanently=permanently)


@router.delete(
    "/datasets/{dataset_id}", summary="Delete a dataset", tags=["datasets"], status_code=204, responses=_ONE
)
def delete_dataset(dataset_id: str, request: Request, permanently: Permanently = False) -> None:
    """Move a dataset to the trash; models and results made from it stay.

    409 with `holders` while an active job or a gate uses it.
    """
    delete_one(request, kinds.DATASET, dataset_id, permanently=permanently)


@router.delete(
    "/click-logs/{log_id}", summary="Delete a click log", tags=["clicks"], status_code=204, responses=_ONE
)
def delete_click_log(log_id: str, request: Request, permanently: Permanently = False) -> None:
    """Move a click log to the trash; models and results made from it stay.

    409 with `holders` while an active job or a gate uses it.
    """
    delete_one(request, kinds.CLICK_LOG, log_id, permanently=permanently)


@router.delete(
    "/studies/{study_id}", summary="Delete a study", tags=["studies"], status_code=204, responses=_ONE
)
def delete_study(study_id: str, request: Request, permanently: Permanently = False) -> None:
    """Move a study that has ended to the trash, with its trials; its models, comparison and jobs stay."""
    delete_one(request, kinds.STUDY, study_id, permanently=permanently)


@router.post("/datasets/delete", summary="Delete several datasets", tags=["datasets"], responses=_MANY)
def delete_datasets(
    body: Annotated[DatasetDeletionRequest, Body(openapi_examples=_DATASETS_EXAMPLES)], request: Request
) -> DeletedDatasets:
    """Move several datasets to the trash, and report the outcome of each.

    A dataset in use stays, with the reason; the request may be repeated.
    """
    items, actor = [], actor_of(request)
    for dataset_id in dict.fromkeys(body.ids):
        try:
            delete_one(request, kinds.DATASET, dataset_id, permanently=body.permanently, actor=actor)
            items.append(DeletedDataset(id=dataset_id, outcome="deleted"))
        except NotFound:
            items.append(DeletedDataset(id=dataset_id, outcome="missing"))
        except StillNeeded as used:
            items.append(DeletedDataset(id=dataset_id, outcome="in_use", detail=str(used)))
    return DeletedDatasets(items=items)


@router.post("/jobs/delete", summary="Delete several jobs", tags=["jobs"], responses=_MANY)
def delete_jobs(
    body: Annotated[
        filters.DeleteRequest[filters.JobFilter],
        Body(openapi_examples=_examples({"status": "failed", "older_than_days": 30}, "job_")),
    ],
    request: Request,
) -> Deletion:
    """Delete jobs, selected by ids or a filter, newest first; a dry run by default.

    Objects with dependents stay and are listed. Each job is deleted with all of its results or not at all.
    """
    return delete_many(request, kinds.JOB, body)


@router.post("/models/delete", summary="Delete several models", tags=["models"], responses=_MANY)
def delete_models(
    body: Annotated[
        filters.DeleteRequest[filters.ModelFilter],
        Body(openapi_examples=_examples({"name": "web", "older_than_days": 30}, "mdl_")),
    ],
    request: Request,
) -> Deletion:
    """Delete models, selected by ids, references or a filter; as for jobs."""
    return delete_many(request, kinds.MODEL, body)


@router.post("/evaluations/delete", summary="Delete several evaluations", tags=["results"], responses=_MANY)
def delete_evaluations(
    body: Annotated[
        filters.DeleteRequest[filters.EvaluationFilter],
        Body(openapi_examples=_examples({"older_than_days": 30}, "evl_")),
    ],
    request: Request,
) -> Deletion:
    """Delete evaluations, selected by ids or a filter; as for jobs."""
    return delete_many(request, kinds.EVALUATION, body)


@router.post("/comparisons/delete", summary="Delete several comparisons", tags=["results"], responses=_MANY)
def delete_comparisons(
    body: Annotated[
        filters.DeleteRequest[filters.ComparisonFilter],
        Body(openapi_examples=_examples({"older_than_days": 30}, "cmp_")),
    ],
    request: Request,
) -> Deletion:
    """Delete comparisons, selected by ids or a filter; as for jobs."""
    return delete_many(request, kinds.COMPARISON, body)


@router.post("/rankings/delete", summary="Delete several rankings", tags=["results"], responses=_MANY)
def delete_rankings(
    body: Annotated[
        filters.DeleteRequest[filters.RankingFilter],
        Body(openapi_examples=_examples({"uploaded": True}, "rnk_")),
    ],
    request: Request,
) -> Deletion:
    """Delete rankings, selected by ids or a filter; as for jobs."""
    return delete_many(request, kinds.RANKING, body)


@router.post("/inspections/delete", summary="Delete several inspections", tags=["results"], responses=_MANY)
def delete_inspections(
    body: Annotated[
        filters.DeleteRequest[filters.InspectionFilter],
        Body(openapi_examples=_examples({"older_than_days": 30}, "ins_")),
    ],
    request: Request,
) -> Deletion:
    """Delete inspections, selected by ids or a filter; as for jobs."""
    return delete_many(request, kinds.INSPECTION, body)


@router.post(
    "/experiments/delete", summary="Delete several experiments", tags=["experiments"], responses=_MANY
)
def delete_experiments(
    body: Annotated[
        filters.DeleteRequest[filters.ExperimentFilter],
        Body(openapi_examples=_examples({"status": "cancelled", "older_than_days": 30}, "exp_")),
    ],
    request: Request,
) -> Deletion:
    """Delete experiments, selected by ids or a filter; as for jobs. The jobs of an experiment stay."""
    return delete_many(request, kinds.EXPERIMENT, body)


@router.post("/studies/delete", summary="Delete several studies", tags=["studies"], responses=_MANY)
def delete_studies(
    body: Annotated[
        filters.DeleteRequest[filters.StudyFilter],
        Body(openapi_examples=_examples({"status": "cancelled", "older_than_days": 30}, "std_")),
    ],
    request: Request,
) -> Deletion:
    """Delete studies, selected by ids or a filter; as for jobs. The jobs of a study stay."""
    return delete_many(request, kinds.STUDY, body)
