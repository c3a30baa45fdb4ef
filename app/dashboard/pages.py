"""The pages of the dashboard, and its sections, for the header and for the tabs above lists."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from app.experiments.schemas import Status as ExperimentStatus
from app.http.route import any_text
from core.clicks.models.specification import MODELS
from core.clicks.reading.options import ROLES
from core.clicks.users import PRESETS
from core.events import EVENT_KINDS
from core.experiments import PAPERS
from core.jobs import JobKind, JobStatus
from core.jobs.auto_train import AutoTrainJob
from core.store.repositories.study_progress import StudyStatus
from rankery.usual_columns import USUAL_NAMES


@dataclass(frozen=True)
class Page:
    """A page whose script fetches its content.

    Attributes:
        path: URL path. If it contains an id, the script of the page shows that the id does not exist.
        title: Title of the window; by default the ids in the path.
        list_page: Name of the list that the page belongs to, None for a list itself.
        guide: Page of the guide that explains this page; by default the first page of the guide.
        label: Text of the links to this page in the header and in tabs; by default the title.
    """

    path: str
    name: str
    title: str = ""
    list_page: str | None = None
    guide: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""


_COLUMN_NAMES = {"usual_column_names": dict(USUAL_NAMES)}
_LOG_OPTIONS = {
    "formats": (
        ("", "detected from the content (default)"),
        ("table", "table: CSV, TSV or Parquet"),
        ("ubi", "User Behavior Insights"),
        ("sessions", "sessions, one JSON line each"),
        ("metarank", "Metarank"),
        ("open-bandit", "Open Bandit"),
    ),
    "roles": ROLES,
    "presets": list(PRESETS),
}
_BUDGET = {"budget_minutes": f"{AutoTrainJob.budget_seconds / 60:g}"}
_CLICK_MODELS = {"models": [(name, kind.label) for name, kind in MODELS.items()]}
_JOB_FILTERS = {"kinds": JobKind, "statuses": JobStatus}
_STUDY_FILTERS = {"statuses": get_args(StudyStatus)}
_EXPERIMENT_FILTERS = {"statuses": get_args(ExperimentStatus), "papers": list(PAPERS)}
_EVENTS = {"events": EVENT_KINDS}

_QUERY_PATH = f"/datasets/{{dataset_id}}/queries/{any_text('query_id')}"
_TROUBLES, _CLICKS, _STUDIES = "how-to/troubleshooting/", "how-to/clicks/", "how-to/studies/"
_MODELS, _METRICS, _COMPARISONS = "concepts/models/", "concepts/metrics/", "concepts/comparisons/"
_RANKINGS, _INTERLEAVING, _PAPERS = "how-to/present-system/", "how-to/interleaving/", "how-to/papers/"
_KEYS = "how-to/production/#keys"

PAGES = (
    Page("/", "overview", "Overview", guide="quick-start/"),
    Page("/jobs", "jobs", "Jobs", guide=_TROUBLES, context=_JOB_FILTERS),
    Page("/jobs/compare", "compare_jobs", "Compare trainings", "jobs", "how-to/tuning/"),
    Page("/jobs/{job_id}", "job", "", "jobs", _TROUBLES),
    Page("/datasets", "datasets", "Datasets", guide="how-to/own-data/", context=_COLUMN_NAMES),
    Page("/datasets/{dataset_id}", "dataset", "", "datasets", "concepts/doctor/", _COLUMN_NAMES),
    Page(_QUERY_PATH, "query", "", "datasets", "concepts/labels/"),
    Page("/click-logs", "click_logs", "Click logs", guide=_CLICKS, context=_LOG_OPTIONS),
    Page("/click-logs/{log_id}", "click_log", "", "click_logs", _CLICKS, _CLICK_MODELS),
    Page("/train", "train", "New training", "jobs", "how-to/best-model/", _BUDGET),
    Page("/models", "models", "Models", guide=_MODELS),
    Page("/models/{ref}", "model", "", "models", _MODELS),
    Page("/evaluations", "evaluations", "Evaluations", guide=_METRICS),
    Page("/evaluations/{evaluation_id}", "evaluation", "", "evaluations", _METRICS),
    Page("/comparisons", "comparisons", "Comparisons", guide=_COMPARISONS),
    Page("/comparisons/{comparison_id}", "comparison", "", "comparisons", _COMPARISONS),
    Page("/rankings", "rankings", "Rankings", guide=_RANKINGS),
    Page("/rankings/{ranking_id}", "ranking", "", "rankings", _RANKINGS),
    Page("/aliases", "aliases", "Aliases", guide=_MODELS),
    Page("/interleavings", "interleavings", "Interleavings", guide=_INTERLEAVING),
    Page("/interleavings/{interleaving_id}", "interleaving", "", "interleavings", _INTERLEAVING),
    Page("/studies", "studies", "Studies", guide=_STUDIES, context=_STUDY_FILTERS),
    Page("/studies/new", "new_study", "New study", "studies", _STUDIES),
    Page("/studies/{study_id}", "study", "", "studies", _STUDIES),
    Page("/experiments", "experiments", "Experiments", guide=_PAPERS, context=_EXPERIMENT_FILTERS),
    Page("/experiments/{experiment_id}", "experiment", "", "experiments", _PAPERS),
    Page("/schedules", "schedules", "Schedules", guide="how-to/schedules/"),
    Page("/drift/{report_id}", "drift_report", "", "models", "how-to/drift/"),
    Page("/settings", "settings", "Settings", guide="settings/", label="Service"),
    Page("/settings/keys", "keys", "API keys", guide=_KEYS),
    Page("/settings/audit", "audit", "Audit log", guide=_KEYS),
    Page("/settings/storage", "storage", "Storage", guide="how-to/lifecycle/"),
    Page("/settings/webhooks", "webhooks", "Webhooks", guide="how-to/events/", context=_EVENTS),
    Page("/docs", "docs", "API reference"),
)

GUIDE_PAGES: Mapping[str, str] = {page.name: page.guide for page in PAGES if page.guide}


@dataclass(frozen=True)
class Section:
    """An entry of the header.

    Attributes:
        pages: Pages of the entry; a click on the entry opens the first one.
    """

    label: str
    pages: tuple[Page, ...]

    def has(self, name: str) -> bool:
        """Return whether a page belongs to the section."""
        return any(page.name == name for page in self.pages)


def _section(label: str, *names: str) -> Section:
    pages = {page.name: page for page in PAGES}
    return Section(label, tuple(pages[name] for name in names))


SECTIONS = (
    _section("Data", "datasets", "click_logs"),
    _section("Train", "jobs", "studies", "experiments", "schedules"),
    _section("Models", "models"),
    _section("Results", "evaluations", "comparisons", "rankings"),
    _section("Serve", "aliases", "interleavings"),
    _section("Settings", "settings", "keys", "audit", "storage", "webhooks"),
)
