"""The store: database rows, artifacts and wake-up messages."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.store.repositories.aliases import Promotion
    from core.store.repositories.ids import new_id
    from core.store.repositories.models import MODEL_NAME
    from core.store.repositories.pages import Page
    from core.store.settings import StoreSettings
    from core.store.store import Store
    from core.store.tables import (
        AliasGate,
        AliasMove,
        ApiKey,
        ArtifactDigest,
        AuditEntry,
        BrowserSession,
        Comparison,
        Dataset,
        DriftReport,
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
        ScoreSamples,
        Study,
        Trial,
        Worker,
    )
    from core.store.transaction import Transaction
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
    "DriftReport",
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
    "ScoreSamples",
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
# Settings are read by processes that open no store, nor import what one is made of.
__getattr__ = lazy_names(
    __name__,
    {
        "MODEL_NAME": "core.store.repositories.models",
        "RUN_JOB": "core.store.wakeups",
        "AliasGate": "core.store.tables",
        "AliasMove": "core.store.tables",
        "ApiKey": "core.store.tables",
        "ArtifactDigest": "core.store.tables",
        "AuditEntry": "core.store.tables",
        "BrowserSession": "core.store.tables",
        "Comparison": "core.store.tables",
        "Dataset": "core.store.tables",
        "DriftReport": "core.store.tables",
        "Evaluation": "core.store.tables",
        "Experiment": "core.store.tables",
        "ExperimentTraining": "core.store.tables",
        "IdempotencyRecord": "core.store.tables",
        "Inspection": "core.store.tables",
        "Job": "core.store.tables",
        "JobAttempt": "core.store.tables",
        "JobIteration": "core.store.tables",
        "Model": "core.store.tables",
        "ModelAlias": "core.store.tables",
        "Page": "core.store.repositories.pages",
        "Promotion": "core.store.repositories.aliases",
        "Ranking": "core.store.tables",
        "Schedule": "core.store.tables",
        "ScheduleRun": "core.store.tables",
        "ScoreSamples": "core.store.tables",
        "Store": "core.store.store",
        "StoreSettings": "core.store.settings",
        "Study": "core.store.tables",
        "Transaction": "core.store.transaction",
        "Trial": "core.store.tables",
        "WakeUps": "core.store.wakeups",
        "Worker": "core.store.tables",
        "new_id": "core.store.repositories.ids",
        "queue_of": "core.store.wakeups",
    },
)
