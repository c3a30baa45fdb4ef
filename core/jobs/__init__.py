"""Job kinds, each with its stored specification, title, lane, main metric and artifacts to clean up."""

from core.jobs.base import PRIORITIES, JobLimits, JobSpec, JobStatus, Lane, MainMetric, SubmittedJob
from core.jobs.measuring import System
from core.jobs.registry import (
    LANES,
    MAX_TITLE,
    JobKind,
    is_known,
    lane_of,
    main_metric_of,
    orphaned_artifacts,
    parse,
    specification_of,
    title_of,
)
