"""Pages of the dashboard: templates whose scripts fetch their content from `/v1`."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import get_args

from fastapi.responses import HTMLResponse
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.dashboard.assets import templates
from app.dashboard.navigation import SECTIONS
from app.dashboard.versioned_files import files_url, modules_of
from app.experiments.schemas import Status as ExperimentStatus
from app.http.caller import caller_in
from app.http.path_parameters import any_text
from app.http.route import Router
from app.studies.schemas import StudyStatus
from core.clicks.models.specification import MODELS
from core.clicks.reading.options import ROLES
from core.clicks.users import PRESETS
from core.data.tables.roles import USUAL_NAMES
from core.events import EVENT_KINDS
from core.experiments import PAPERS
from core.jobs import JobKind, JobStatus

# Guide page that explains each page; other pages link to the first page of the guide.
GUIDE_PAGES: Mapping[str, str] = MappingProxyType(
    {
        "overview": "quick-start/",
        "jobs": "how-to/troubleshooting/",
        "job": "how-to/troubleshooting/",
        "compare_jobs": "how-to/tuning/",
        "train": "how-to/best-model/",
        "datasets": "how-to/own-data/",
        "dataset": "concepts/doctor/",
        "click_logs": "how-to/clicks/",
        "click_log": "how-to/clicks/",
        "query": "concepts/labels/",
        "models": "concepts/models/",
        "model": "concepts/models/",
        "evaluations": "concepts/metrics/",
        "evaluation": "concepts/metrics/",
        "comparisons": "concepts/comparisons/",
        "comparison": "concepts/comparisons/",
        "rankings": "how-to/present-system/",
        "ranking": "how-to/present-system/",
        "aliases": "concepts/models/",
        "interleavings": "how-to/interleaving/",
        "interleaving": "how-to/interleaving/",
        "studies": "how-to/studies/",
        "study": "how-to/studies/",
        "new_study": "how-to/studies/",
        "experiments": "how-to/papers/",
        "experiment": "how-to/papers/",
        "settings": "settings/",
        "keys": "how-to/production/#keys",
        "audit": "how-to/production/#keys",
        "storage": "how-to/lifecycle/",
        "webhooks": "how-to/events/",
        "schedules": "how-to/schedules/",
        "drift_report": "how-to/drift/",
    }
)

_USUAL_COLUMN_NAMES = dict(USUAL_NAMES)
CLICK_FORMATS = (
    ("", "detected from the content (default)"),
    ("table", "table: CSV, TSV or Parquet"),
    ("ubi", "User Behavior Insights"),
    ("sessions", "sessions, one JSON line each"),
    ("metarank", "Metarank"),
    ("open-bandit", "Open Bandit"),
)

router = Router(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/")
def overview_page(request: Request) -> Response:
    """Show the overview; redirect `/?kind=…`, the list of jobs of earlier releases, to `/jobs`."""
    if "kind" in request.query_params:
        return RedirectResponse(f"/jobs?{request.url.query}")
    return page(request, "overview", "Overview")


@router.get("/jobs")
def jobs_page(request: Request) -> Response:
    """List the jobs with their progress, learning curves and metrics."""
    return page(request, "jobs", "Jobs", kinds=JobKind, statuses=JobStatus)


@router.get("/jobs/compare")
def compare_jobs_page(request: Request) -> Response:
    """Compare the trainings named in the URL."""
    return page(request, "compare_jobs", "Compare trainings", section="jobs")


@router.get("/jobs/{job_id}")
def job_page(request: Request, job_id: str) -> Response:
    """Show one job; the script handles a job that does not exist."""
    return page(request, "job", job_id, section="jobs")


@router.get("/datasets")
def datasets_page(request: Request) -> Response:
    """List the datasets, with a form to upload."""
    return page(request, "datasets", "Datasets", usual_column_names=_USUAL_COLUMN_NAMES)


@router.get("/datasets/{dataset_id}")
def dataset_page(request: Request, dataset_id: str) -> Response:
    """Show one dataset: its findings, statistics, features and queries, or why it cannot be read."""
    return page(request, "dataset", dataset_id, section="datasets", usual_column_names=_USUAL_COLUMN_NAMES)


@router.get("/datasets/{dataset_id}/queries/" + any_text("query_id"))
def query_page(request: Request, dataset_id: str, query_id: str) -> Response:
    """Show one query's documents with labels and features."""
    return page(request, "query", f"{query_id} · {dataset_id}", section="datasets")


@router.get("/click-logs")
def click_logs_page(request: Request) -> Response:
    """List the click logs, with forms to upload and to simulate one."""
    return page(
        request, "click_logs", "Click logs", formats=CLICK_FORMATS, roles=ROLES, presets=list(PRESETS)
    )


@router.get("/click-logs/{log_id}")
def click_log_page(request: Request, log_id: str) -> Response:
    """Show one click log: findings, counts, and forms to estimate models from it."""
    models = [(name, kind.label) for name, kind in MODELS.items()]
    return page(request, "click_log", log_id, section="click_logs", models=models)


@router.get("/train")
def train_page(request: Request) -> Response:
    """Offer the form that submits a training."""
    return page(request, "train", "New training", section="jobs")


@router.get("/train/one-loss")
def train_one_loss_page(request: Request) -> Response:
    """Redirect the old URL of the form for one loss."""
    query = f"&{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/train?goal=loss{query}")


@router.get("/models")
def models_page(request: Request) -> Response:
    """List the trained models with their metrics."""
    return page(request, "models", "Models")


@router.get("/models/{ref}")
def model_page(request: Request, ref: str) -> Response:
    """Show one model: description, lineage, feature importance and exports."""
    return page(request, "model", ref, section="models")


@router.get("/evaluations")
def evaluations_page(request: Request) -> Response:
    """List the evaluations, with a form to start one."""
    return page(request, "evaluations", "Evaluations")


@router.get("/evaluations/{evaluation_id}")
def evaluation_page(request: Request, evaluation_id: str) -> Response:
    """Show the metrics of a model or a ranking, with baselines, segments and queries."""
    return page(request, "evaluation", evaluation_id, section="evaluations")


@router.get("/comparisons")
def comparisons_page(request: Request) -> Response:
    """List the comparisons, with a form to start one."""
    return page(request, "comparisons", "Comparisons")


@router.get("/comparisons/{comparison_id}")
def comparison_page(request: Request, comparison_id: str) -> Response:
    """Show which systems are better, on which queries, and which documents moved."""
    return page(request, "comparison", comparison_id, section="comparisons")


@router.get("/rankings")
def rankings_page(request: Request) -> Response:
    """List the rankings of models and of uploaded runs, with a form to upload."""
    return page(request, "rankings", "Rankings")


@router.get("/rankings/{ranking_id}")
def ranking_page(request: Request, ranking_id: str) -> Response:
    """Show one ranking: its queries, and the documents of each with labels and features."""
    return page(request, "ranking", ranking_id, section="rankings")


@router.get("/aliases")
def aliases_page(request: Request) -> Response:
    """List the models that have a given alias, with their metrics and links to try and to promote them."""
    return page(request, "aliases", "Aliases")


@router.get("/interleavings")
def interleavings_page(request: Request) -> Response:
    """List the interleavings, with a form to create one."""
    return page(request, "interleavings", "Interleavings")


@router.get("/interleavings/{interleaving_id}")
def interleaving_page(request: Request, interleaving_id: str) -> Response:
    """Show one interleaving: its verdict, and the share of preferences by number of decided units."""
    return page(request, "interleaving", interleaving_id, section="interleavings")


@router.get("/studies")
def studies_page(request: Request) -> Response:
    """List the studies with their progress and conclusions."""
    return page(request, "studies", "Studies", statuses=get_args(StudyStatus))


@router.get("/studies/new")
def new_study_page(request: Request) -> Response:
    """Offer the form that submits a study."""
    return page(request, "new_study", "New study", section="studies")


@router.get("/studies/{study_id}")
def study_page(request: Request, study_id: str) -> Response:
    """Show one study: its trials, the importance of their parameters, and its conclusion."""
    return page(request, "study", study_id, section="studies")


@router.get("/experiments")
def experiments_page(request: Request) -> Response:
    """List the experiments of papers and offer the form that runs one."""
    statuses = get_args(ExperimentStatus)
    return page(request, "experiments", "Experiments", statuses=statuses, papers=list(PAPERS))


@router.get("/experiments/{experiment_id}")
def experiment_page(request: Request, experiment_id: str) -> Response:
    """Show one experiment: its trainings, and its report or, after a dry run, its estimated duration."""
    return page(request, "experiment", experiment_id, section="experiments")


@router.get("/schedules")
def schedules_page(request: Request) -> Response:
    """List the schedules with their runs, and offer the form that makes one."""
    return page(request, "schedules", "Schedules")


@router.get("/drift/{report_id}")
def drift_page(request: Request, report_id: str) -> Response:
    """Show the drift between the training data and the scored documents."""
    return page(request, "drift_report", report_id, section="models")


@router.get("/settings")
def settings_page(request: Request) -> Response:
    """List the settings of the service."""
    return page(request, "settings", "Settings")


@router.get("/settings/keys")
def keys_page(request: Request) -> Response:
    """List the API keys, with a form to create one."""
    return page(request, "keys", "API keys")


@router.get("/settings/audit")
def audit_page(request: Request) -> Response:
    """List the audit log."""
    return page(request, "audit", "Audit log")


@router.get("/settings/storage")
def storage_page(request: Request) -> Response:
    """Show the stored bytes by kind of object, and the trash."""
    return page(request, "storage", "Storage")


@router.get("/settings/webhooks")
def webhooks_page(request: Request) -> Response:
    """List the webhooks with their deliveries, and offer the form that makes one."""
    return page(request, "webhooks", "Webhooks", events=EVENT_KINDS)


@router.get("/docs")
def documentation_page(request: Request) -> Response:
    """Show the API documentation, rendered by Swagger UI from an installed package."""
    return page(request, "docs", "API reference")


def page(
    request: Request,
    name: str,
    title: str,
    section: str | None = None,
    *,
    status: int = HTTPStatus.OK,
    **context: object,
) -> Response:
    """Return a page whose script fetches its content.

    Args:
        request: The request for the page.
        name: Name of its template and its script.
        title: Title of the window.
        section: Name of the list that the page belongs to, None for a list itself.
        status: HTTP status.
        context: Further variables of the template.
    """
    caller = caller_in(request.scope)
    return templates().TemplateResponse(
        request,
        f"{name}.html",
        {
            "page": name,
            "title": title,
            "current_list": section or name,
            "sections": SECTIONS,
            "files_url": files_url(),
            "modules": modules_of(name),
            "guide_page": GUIDE_PAGES.get(name, ""),
            "trash_days": request.app.state.trash_days,
            "signed_in_with": caller.name if caller.session_sha256 else None,
            **context,
        },
        status_code=status,
        headers={"cache-control": "no-cache"},
    )
