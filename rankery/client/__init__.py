"""The Python client: `Client`, its asynchronous twin `AsyncClient`, and their results."""

from rankery.client.arguments import CandidateColumns, Columns, ExportOptions
from rankery.client.asynchronous.click_logs import AsyncClickLog
from rankery.client.asynchronous.client import AsyncClient
from rankery.client.asynchronous.dataset import AsyncDataset
from rankery.client.asynchronous.experiments import AsyncExperiment
from rankery.client.asynchronous.job import AsyncJob, AsyncModel
from rankery.client.asynchronous.job_calls import AsyncGrid
from rankery.client.asynchronous.resource import AsyncPages
from rankery.client.asynchronous.results import AsyncComparison, AsyncEvaluation, AsyncRanking
from rankery.client.asynchronous.schedules import AsyncSchedule
from rankery.client.asynchronous.studies import AsyncStudy
from rankery.client.asynchronous.webhooks import AsyncWebhook
from rankery.client.listing import Listing
from rankery.client.schemas.requests import (
    Contract,
    GateRequest,
    HoldOut,
    Hyperparameters,
    Loss,
    LossName,
    Scorer,
    ScorerKind,
    Validation,
)
from rankery.client.synchronous.click_logs import ClickLog
from rankery.client.synchronous.client import Client
from rankery.client.synchronous.dataset import Dataset
from rankery.client.synchronous.experiments import Experiment
from rankery.client.synchronous.job import Job, Model
from rankery.client.synchronous.job_calls import Grid
from rankery.client.synchronous.resource import Pages
from rankery.client.synchronous.results import Comparison, Evaluation, Ranking
from rankery.client.synchronous.schedules import Schedule
from rankery.client.synchronous.studies import Study
from rankery.client.synchronous.webhooks import Webhook
from rankery.client.views.inspection import Importance, Inspection
from rankery.client.views.job import History
from rankery.client.views.results import Query, RankedQueries

__all__ = [
    "AsyncClickLog",
    "AsyncClient",
    "AsyncComparison",
    "AsyncDataset",
    "AsyncEvaluation",
    "AsyncExperiment",
    "AsyncGrid",
    "AsyncJob",
    "AsyncModel",
    "AsyncPages",
    "AsyncRanking",
    "AsyncSchedule",
    "AsyncStudy",
    "AsyncWebhook",
    "CandidateColumns",
    "ClickLog",
    "Client",
    "Columns",
    "Comparison",
    "Contract",
    "Dataset",
    "Evaluation",
    "Experiment",
    "ExportOptions",
    "GateRequest",
    "Grid",
    "History",
    "HoldOut",
    "Hyperparameters",
    "Importance",
    "Inspection",
    "Job",
    "Listing",
    "Loss",
    "LossName",
    "Model",
    "Pages",
    "Query",
    "RankedQueries",
    "Ranking",
    "Schedule",
    "Scorer",
    "ScorerKind",
    "Study",
    "Validation",
    "Webhook",
]
