"""The Python client: `Client`, its asynchronous twin `AsyncClient`, and what they return."""

from rankery.client.arguments import CandidateColumns, Columns, ExportOptions
from rankery.client.asynchronous.client import AsyncClient
from rankery.client.asynchronous.comparison import AsyncComparison
from rankery.client.asynchronous.dataset import AsyncDataset
from rankery.client.asynchronous.evaluation import AsyncEvaluation
from rankery.client.asynchronous.experiment import AsyncExperiment
from rankery.client.asynchronous.grid import AsyncGrid
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.model import AsyncModel
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.ranking import AsyncRanking
from rankery.client.asynchronous.schedule import AsyncSchedule
from rankery.client.asynchronous.study import AsyncStudy
from rankery.client.asynchronous.webhook import AsyncWebhook
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
from rankery.client.synchronous.client import Client
from rankery.client.synchronous.comparison import Comparison
from rankery.client.synchronous.dataset import Dataset
from rankery.client.synchronous.evaluation import Evaluation
from rankery.client.synchronous.experiment import Experiment
from rankery.client.synchronous.grid import Grid
from rankery.client.synchronous.job import Job
from rankery.client.synchronous.model import Model
from rankery.client.synchronous.pages import Pages
from rankery.client.synchronous.ranking import Ranking
from rankery.client.synchronous.schedule import Schedule
from rankery.client.synchronous.study import Study
from rankery.client.synchronous.webhook import Webhook
from rankery.client.views.history import History
from rankery.client.views.importance import Importance
from rankery.client.views.inspection import Inspection
from rankery.client.views.query import Query
from rankery.client.views.ranking import RankedQueries

__all__ = [
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
