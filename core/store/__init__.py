"""The store: database rows, artifacts and wake-up messages."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.store.repositories.aliases import Promotion
    from core.store.repositories.ids import new_id
    from core.store.repositories.models import MODEL_NAME, MODEL_NAME_RULE
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
        Candidate,
        ClickLog,
        Comparison,
        Dataset,
        DriftReport,
        Evaluation,
        Experiment,
        ExperimentTraining,
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
    from core.store.transaction import Transaction
    from core.store.wakeups import RUN_JOB, WakeUps, queue_of

# Imported lazily: processes that only read the settings need not import the modules of the store.
__getattr__ = lazy_names(__name__)
