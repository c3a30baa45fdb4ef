"""The store: database rows, artifacts and wake-up messages."""

from core.store.repositories.aliases import Promotion
from core.store.repositories.ids import new_id
from core.store.repositories.models import MODEL_NAME
from core.store.repositories.pages import Page
from core.store.settings import StoreSettings
from core.store.store import Store, Transaction
from core.store.tables import (
    AliasGate,
    AliasMove,
    ApiKey,
    ArtifactDigest,
    AuditEntry,
    BrowserSession,
    Comparison,
    Dataset,
    Evaluation,
    Experiment,
    ExperimentTraining,
    IdempotencyRecord,
    Inspection,
    Job,
    JobAttempt,
    JobIteration,
    Model,
    ModelAlias,
    Ranking,
    Schedule,
    ScheduleRun,
    Study,
    Trial,
    Worker,
)
from core.store.wakeups import RUN_JOB, WakeUps, queue_of

__all__ = [
    "MODEL_NAME",
    "RUN_JOB",
    "AliasGate",
    "AliasMove",
    "ApiKey",
    "ArtifactDigest",
    "AuditEntry",
    "BrowserSession",
    "Comparison",
    "Dataset",
    "Evaluation",
    "Experiment",
    "ExperimentTraining",
    "IdempotencyRecord",
    "Inspection",
    "Job",
    "JobAttempt",
    "JobIteration",
    "Model",
    "ModelAlias",
    "Page",
    "Promotion",
    "Ranking",
    "Schedule",
    "ScheduleRun",
    "Store",
    "StoreSettings",
    "Study",
    "Transaction",
    "Trial",
    "WakeUps",
    "Worker",
    "new_id",
    "queue_of",
]
