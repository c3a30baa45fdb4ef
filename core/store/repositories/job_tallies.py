"""Counters of ended jobs."""

from bisect import bisect_left

from core.store.repositories.tallies import Tallies

JOB_ATTEMPTS = "job_attempts"
JOB_SECONDS = "job_seconds"
JOB_SECONDS_BUCKET = "job_seconds_bucket"
TRAINING_ITERATIONS = "training_iterations"
TRAINING_SECONDS = "training_seconds"
CACHE_HITS = "cache_hits"
CACHE_MISSES = "cache_misses"

# Upper bounds in seconds, from parsing a small file to training through a weekend.
_BOUNDS_SECONDS = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400, 259_200)
BOUNDS = (*(str(float(bound)) for bound in _BOUNDS_SECONDS), "+Inf")


def count_attempt(tallies: Tallies, kind: str, ending: str) -> None:
    """Count one attempt by its outcome, such as `succeeded`, `lost` or `handed_back`."""
    tallies.add(JOB_ATTEMPTS, {"kind": kind, "ending": ending})


def count_job(tallies: Tallies, kind: str, status: str, seconds: float) -> None:
    """Count an ended job by outcome and duration.

    Each job is in one bucket only, named by the bound that it stays within; the last one has none.
    """
    seconds = max(0.0, seconds)  # clocks of two machines may disagree
    bound = BOUNDS[bisect_left(_BOUNDS_SECONDS, seconds)]
    tallies.add(JOB_SECONDS_BUCKET, {"kind": kind, "status": status, "le": bound})
    tallies.add(JOB_SECONDS, {"kind": kind, "status": status}, seconds)
