"""Tables: one class per table, grouped by subject."""

from core.store.tables.access import ApiKey, AuditEntry, BrowserSession, IdempotencyRecord
from core.store.tables.base import ID, NAME, SHA256, WORD, Base, InProject, InProjectOfName, Trashable
from core.store.tables.bookkeeping import ArtifactDigest, PendingDeletion, StoredCounter
from core.store.tables.candidates import Candidate
from core.store.tables.click_logs import ClickLog
from core.store.tables.datasets import Dataset
from core.store.tables.drift import DriftReport, ScoreSamples
from core.store.tables.events import Event, Webhook, WebhookDelivery
from core.store.tables.experiments import Experiment, ExperimentTraining
from core.store.tables.interleavings import Interleaving, ShownList
from core.store.tables.jobs import Job, JobAttempt, JobDataset, JobIteration, Worker
from core.store.tables.models import AliasGate, AliasMove, Model, ModelAlias, ModelName
from core.store.tables.results import ComparedSystem, Comparison, Evaluation, Inspection, Ranking
from core.store.tables.schedules import Schedule, ScheduleRun
from core.store.tables.served import HashKey, ServedEvent, ServedRanking
from core.store.tables.studies import Study, Trial
from core.store.tables.uploads import Upload, UploadPart

__all__ = [
    "ID",
    "NAME",
    "SHA256",
    "WORD",
    "AliasGate",
    "AliasMove",
    "ApiKey",
    "ArtifactDigest",
    "AuditEntry",
    "Base",
    "BrowserSession",
    "Candidate",
    "ClickLog",
    "ComparedSystem",
    "Comparison",
    "Dataset",
    "DriftReport",
    "Evaluation",
    "Event",
    "Experiment",
    "ExperimentTraining",
    "HashKey",
    "IdempotencyRecord",
    "InProject",
    "InProjectOfName",
    "Inspection",
    "Interleaving",
    "Job",
    "JobAttempt",
    "JobDataset",
    "JobIteration",
    "Model",
    "ModelAlias",
    "ModelName",
    "PendingDeletion",
    "Ranking",
    "Schedule",
    "ScheduleRun",
    "ScoreSamples",
    "ServedEvent",
    "ServedRanking",
    "ShownList",
    "StoredCounter",
    "Study",
    "Trashable",
    "Trial",
    "Upload",
    "UploadPart",
    "Webhook",
    "WebhookDelivery",
    "Worker",
]
