"""Tables: one class per table, grouped by subject."""

from core.store.tables.access import (
    ApiKey,
    ArtifactDigest,
    AuditEntry,
    BrowserSession,
    IdempotencyRecord,
    PendingDeletion,
    StoredCounter,
)
from core.store.tables.base import Base, InProject, InProjectOfName, Trashable
from core.store.tables.datasets import ClickLog, Dataset, Upload, UploadPart
from core.store.tables.events import Event, Schedule, ScheduleRun, Webhook, WebhookDelivery
from core.store.tables.jobs import Job, JobAttempt, JobDataset, JobIteration, Worker
from core.store.tables.models import AliasGate, AliasMove, Model, ModelAlias, ModelName
from core.store.tables.results import ComparedSystem, Comparison, Evaluation, Inspection, Ranking
from core.store.tables.served import (
    DriftReport,
    HashKey,
    Interleaving,
    ScoreSamples,
    ServedEvent,
    ServedRanking,
    ShownList,
)
from core.store.tables.studies import Candidate, Experiment, ExperimentTraining, Study, Trial
