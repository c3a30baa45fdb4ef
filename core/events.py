"""The kinds of events that webhooks and the event stream deliver."""

from collections.abc import Mapping
from types import MappingProxyType

JOB_ENDED = "job.ended"
STUDY_CONCLUDED = "study.concluded"
GATE_REFUSED = "gate.refused"
ALIAS_MOVED = "alias.moved"
DATASET_READY = "dataset.ready"
DRIFT_FOUND = "drift.found"
SCHEDULE_RAN = "schedule.ran"
SCHEDULE_FAILED = "schedule.failed"
WORKER_LOST = "worker.lost"

EVENT_KINDS: Mapping[str, str] = MappingProxyType(
    {
        JOB_ENDED: "A job succeeded, was refused, failed or was cancelled",
        STUDY_CONCLUDED: "A study succeeded, failed or was cancelled",
        GATE_REFUSED: "A promotion gate refused a version",
        ALIAS_MOVED: "An alias was set, promoted, rolled back or removed",
        DATASET_READY: "A dataset is ready for use",
        DRIFT_FOUND: "A drift check found a difference between scored data and training data",
        SCHEDULE_RAN: "A run of a schedule ended with a result",
        SCHEDULE_FAILED: "A run of a schedule failed",
        WORKER_LOST: "A worker stopped sending heartbeats",
    }
)
# Sent to one webhook on request; never listed.
WEBHOOK_TEST = "webhook.test"
