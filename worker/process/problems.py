"""Map errors of failed jobs to titles for the user."""

import secrets
from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import structlog

from core.errors import (
    AddressRefused,
    ArtifactDamaged,
    ClusterUnavailable,
    DatasetError,
    ExtraMissing,
    FeaturesAbsent,
    InvalidInput,
    ModelError,
    NotFound,
    RankeryError,
    RanksLost,
    RunError,
    ScoreNotFinite,
    StoreFull,
    StoreUnavailable,
    WrongState,
)

TITLES: Mapping[type[RankeryError], str] = MappingProxyType(
    {
        DatasetError: "Dataset cannot be read",
        AddressRefused: "Address refused",
        RunError: "Run cannot be read",
        InvalidInput: "Invalid specification",
        FeaturesAbsent: "Features absent",
        ModelError: "Model cannot be used",
        ScoreNotFinite: "Model has no score for a document",
        NotFound: "Not found",
        WrongState: "Wrong state",
        ExtraMissing: "Package not installed",
        ArtifactDamaged: "Stored bytes damaged",
        RanksLost: "Ranks lost",
        StoreFull: "Storage full",
        ClusterUnavailable: "Cluster unavailable",
        StoreUnavailable: "Storage unavailable",
        RankeryError: "Job failed",
    }
)
_LOG = structlog.stdlib.get_logger(__name__)


def problem_of(error: Exception) -> dict[str, Any]:
    """Return an error as a problem for the user.

    The text of an unexpected error may be confidential: it is only logged, with a reference that the user
    can quote.
    """
    if isinstance(error, RankeryError):
        title = next(TITLES[kind] for kind in type(error).__mro__ if kind in TITLES)
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


def _places(error: RankeryError) -> dict[str, Any]:
    if isinstance(error, InvalidInput):
        return {"errors": [{"pointer": p.pointer, "detail": p.detail} for p in error.problems]}
    if isinstance(error, DatasetError):
        causes = {"causes": [asdict(cause) for cause in error.causes]} if error.causes else {}
        return {"errors": [asdict(problem) for problem in error.problems], "more": error.more, **causes}
    return {}
