"""The Python client: `Client`, its asynchronous twin `AsyncClient`, and what they return."""

from rankery.client.asynchronous.client import AsyncClient
from rankery.client.asynchronous.comparison import AsyncComparison
from rankery.client.asynchronous.dataset import AsyncDataset
from rankery.client.asynchronous.evaluation import AsyncEvaluation
from rankery.client.asynchronous.job import AsyncJob
from rankery.client.asynchronous.model import AsyncModel
from rankery.client.asynchronous.pages import AsyncPages
from rankery.client.asynchronous.ranking import AsyncRanking
from rankery.client.synchronous.client import Client
from rankery.client.synchronous.comparison import Comparison
from rankery.client.synchronous.dataset import Dataset
from rankery.client.synchronous.evaluation import Evaluation
from rankery.client.synchronous.job import Job
from rankery.client.synchronous.model import Model
from rankery.client.synchronous.pages import Pages
from rankery.client.synchronous.ranking import Ranking

__all__ = [
    "AsyncClient",
    "AsyncComparison",
    "AsyncDataset",
    "AsyncEvaluation",
    "AsyncJob",
    "AsyncModel",
    "AsyncPages",
    "AsyncRanking",
    "Client",
    "Comparison",
    "Dataset",
    "Evaluation",
    "Job",
    "Model",
    "Pages",
    "Ranking",
]
