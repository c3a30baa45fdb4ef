"""Map errors of failed jobs to titles for the user."""

import secrets
from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import structlog

from core import errors
from core.jobs.ingest import IngestClicksJob

TITLES: Mapping[type[errors.RankeryError], str] = MappingProxyType(
    {
        errors.DatasetError: "Dataset cannot be read",
        errors.AddressRefused: "Address refused",
        errors.RunError: "Run cannot be read",
        errors.InvalidInput: "Invalid specification",
        errors.FeaturesAbsent: "Features absent",
        errors.ModelError: "Model cannot be used",
        errors.ScoreNotFinite: "Model has no score for a document",
        errors.NotFound: "Not found",
        errors.WrongState: "Wrong state",
        errors.ExtraMissing: "Package not installed",
        errors.ArtifactDamaged: "Stored bytes damaged",
        errors.RanksLost: "Ranks lost",
        errors.StoreFull: "Storage full",
        errors.ClusterUnavailable: "Cluster unavailable",
        errors.StoreUnavailable: "Storage unavailable",
        errors.RankeryError: "Job failed",
    }
)
_LOG = structlog.stdlib.get_logger(__name__)


def problem_of(error: Exception, job_kind: str) -> dict[str, Any]:
    """Return the error of a job as a problem for the user.

    The text of an unexpected error may be confidential: it is only logged, with a reference that the user
    can quote.
    """
    if isinstance(error, errors.RankeryError):
        title = next(TITLES[kind] for kind in type(error).__mro__ if kind in TITLES)
        if isinstance(error, errors.DatasetError) and job_kind == IngestClicksJob.kind:
            title = "Click log cannot be read"
        return {"title": title, "detail": str(error), **_places(error)}
    reference = secrets.token_hex(4)
    _LOG.error("job.internal_error", reference=reference, exc_info=error)
    if isinstance(error, MemoryError):
        return {
            "title": "Out of memory",
            "detail": f"the worker has insufficient memory for this job (reference {reference})",
        }
    return {
        "title": "Internal error",
        "detail": f"the job ended with an internal error; search the log of the worker for {reference}",
    }


def _places(error: errors.RankeryError) -> dict[str, Any]:
    if isinstance(error, errors.InvalidInput):
        return {"errors": [{"pointer": p.pointer, "detail": p.detail} for p in error.problems]}
    if isinstance(error, errors.DatasetError):
        causes = {"causes": [asdict(cause) for cause in error.causes]} if error.causes else {}
        return {"errors": [asdict(problem) for problem in error.problems], "more": error.more, **causes}
    return {}
