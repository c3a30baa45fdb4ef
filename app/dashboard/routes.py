"""The dashboard's pages. Each is a template whose script fetches its content from `/v1`."""

from fastapi.responses import HTMLResponse
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.dashboard.assets import plotly_url, templates
from app.dashboard.own_files import files_url, modules_of
from app.http.caller import caller_in
from app.http.path_parameters import any_text
from app.http.route import Router
from core.jobs import JobKind, JobStatus

router = Router(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/")
def overview_page(request: Request) -> Response:
    """Show the overview; redirect old URLs of the list of jobs."""
    if "kind" in request.query_params:
        return RedirectResponse(f"/jobs?{request.url.query}")
    return _page(request, "overview", "Overview")


@router.get("/jobs")
def jobs_page(request: Request) -> Response:
    """List the jobs with their progress, learning curves and metrics."""
    return _page(request, "jobs", "Jobs", kinds=JobKind, statuses=JobStatus)


@router.get("/jobs/compare")
def compare_jobs_page(request: Request) -> Response:
    """Compare the trainings named in the URL."""
    return _page(request, "compare_jobs", "Trainings compared", section="jobs")


@router.get("/jobs/{job_id}")
def job_page(request: Request, job_id: str) -> Response:
    """Show one job; the script handles a job that does not exist."""
    return _page(request, "job", job_id, section="jobs")


@router.get("/datasets")
def datasets_page(request: Request) -> Response:
    """List the datasets, with a form to upload."""
    return _page(request, "datasets", "Datasets")


@router.get("/datasets/{dataset_id}")
def dataset_page(request: Request, dataset_id: str) -> Response:
    """Show one dataset: its findings, statistics, features and queries, or why it cannot be read."""
    return _page(request, "dataset", dataset_id, section="datasets")


@router.get("/datasets/{dataset_id}/queries/" + any_text("query_id"))
def query_page(request: Request, dataset_id: str, query_id: str) -> Response:
    """Show one query's documents with labels and features."""
    return _page(request, "query", f"{query_id} · {dataset_id}", section="datasets")


@router.get("/train")
def train_page(request: Request) -> Response:
    """Offer the form that submits a training job."""
    return _page(request, "train", "New training")


@router.get("/models")
def models_page(request: Request) -> Response:
    """List the trained models with their metrics."""
    return _page(request, "models", "Models")


@router.get("/models/{ref}")
def model_page(request: Request, ref: str) -> Response:
    """Show one model: description, lineage, feature importance and exports."""
    return _page(request, "model", ref, section="models")


@router.get("/evaluations")
def evaluations_page(request: Request) -> Response:
    """List the evaluations, with a form to start one."""
    return _page(request, "evaluations", "Evaluations")


@router.get("/evaluations/{evaluation_id}")
def evaluation_page(request: Request, evaluation_id: str) -> Response:
    """Show the metrics of a model or a ranking, with baselines, segments and queries."""
    return _page(request, "evaluation", evaluation_id, section="evaluations")


@router.get("/comparisons")
def comparisons_page(request: Request) -> Response:
    """List the comparisons, with a form to start one."""
    return _page(request, "comparisons", "Comparisons")


@router.get("/comparisons/{comparison_id}")
def comparison_page(request: Request, comparison_id: str) -> Response:
    """Show which systems are better, on which queries, and which documents moved."""
    return _page(request, "comparison", comparison_id, section="comparisons")


@router.get("/rankings")
def rankings_page(request: Request) -> Response:
    """List the rankings of models and of uploaded runs, with a form to upload."""
    return _page(request, "rankings", "Rankings")


@router.get("/rankings/{ranking_id}")
def ranking_page(request: Request, ranking_id: str) -> Response:
    """Show one ranking: its queries, and the documents of each with labels and features."""
    return _page(request, "ranking", ranking_id, section="rankings")


@router.get("/docs")
def documentation_page(request: Request) -> Response:
    """Show the documentation of the interface, drawn by Swagger UI from an installed package."""
    return _page(request, "docs", "Interface")


def _page(request: Request, page: str, title: str, section: str | None = None, **context: object) -> Response:
    caller = caller_in(request.scope)
    return templates().TemplateResponse(
        request,
        f"{page}.html",
        {
            "page": page,
            "title": title,
            "section": section,
            "files_url": files_url(),
            "modules": modules_of(page),
            "plotly_url": plotly_url(),
            "signed_in_with": caller.name if caller.session_sha256 else None,
            **context,
        },
        headers={"cache-control": "no-cache"},
    )
