"""Responses of drift reports."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from app.http.schemas import Json, PageModel, ResponseModel, example

Verdict = Literal["drift", "none", "too_few"]

_COLUMN: Json = {
    "name": "bm25",
    "kind": "number",
    "psi": 0.41,
    "distance": 0.27,
    "p": 0.003,
    "missing_before": 0.0,
    "missing_after": 0.02,
    "verdict": "drift",
    "sentence": "bm25 has drifted: its stability index is 0.41 (p = 0.003).",
    "profile": {"edges": [3.5, 7.25], "before": [0.0, 0.33, 0.33, 0.34], "after": [0.02, 0.1, 0.28, 0.6]},
}
_ENTRY: Json = {
    "id": "drf_01k9x2m4q7c8v5n3b6r1",
    "job_id": "job_01k9x2z4q7c8v5n3b6r1",
    "model_id": "mdl_01k9x3a7d5f8g2h4j6k9",
    "model": "web:3",
    "days": 7.0,
    "since": "2026-01-05T00:00:00Z",
    "until": "2026-01-12T00:00:00Z",
    "verdict": "drift",
    "sentence": "Drift from the training data: bm25.",
    "requests": 812,
    "queries": 640,
    "documents": 7_311,
    "drifted_features": ["bm25"],
    "thresholds": {"p": 0.01, "psi": 0.2, "missing": 0.1},
    "project": "search",
    "created_at": "2026-01-12T00:00:00Z",
}
_COMPARISON: Json = {
    "with": "training",
    "reference": {
        "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
        "scored_dataset_id": "ds_01k9x2m4q7c8v5n3b6r2",
        "queries": 2_000,
        "documents": 24_031,
    },
    "queries": 640,
    "documents": 7_311,
    "verdict": "drift",
    "sentence": "Drift in bm25.",
    "features": [_COLUMN],
    "scores": {**_COLUMN, "name": "scores", "psi": 0.04, "verdict": "none", "p": 1.0},
}


class DriftThresholds(ResponseModel):
    """Thresholds of drift."""

    p: float
    psi: float
    missing: float


class DriftReportEntry(ResponseModel):
    """A drift report in a list."""

    model_config = example(_ENTRY)

    id: str
    job_id: str
    model_id: str
    model: str = Field(description="Reference of the checked model version")
    days: float = Field(description="Number of days whose samples were checked")
    since: datetime
    until: datetime
    verdict: Verdict = Field(
        description="Drift from the training data or from earlier samples; `too_few`: not enough queries"
        " for a test"
    )
    sentence: str
    requests: int = Field(description="Number of sampled requests in the period")
    queries: int = Field(description="Number of different queries in these requests")
    documents: int = Field(description="Number of compared documents")
    drifted_features: list[str] = Field(
        description="Names of drifted features, or `scores`, the largest drift first"
    )
    thresholds: DriftThresholds
    project: str | None
    created_at: datetime


class DriftReportPage(PageModel):
    """A page of drift reports, newest first."""

    items: list[DriftReportEntry]


class DriftProfile(ResponseModel):
    """Shares of documents per bin: missing values, then the bins of `edges` or `categories`."""

    edges: list[float] | None = Field(
        None,
        description="Upper edges of the bins of a numeric feature, except for the last bin",
        exclude_if=lambda edges: edges is None,
    )
    categories: list[str] | None = Field(
        None,
        description="Categories, one per bin after that of missing values",
        exclude_if=lambda names: names is None,
    )
    before: list[float]
    after: list[float]


class DriftColumn(ResponseModel):
    """Drift of a feature or of the scores."""

    name: str
    kind: Literal["number", "category"]
    psi: float = Field(description="Population stability index on ten quantile bins of the reference")
    distance: float = Field(
        description="Kolmogorov-Smirnov distance of numbers, or total variation distance of categories;"
        " missing values count as the smallest"
    )
    p: float = Field(
        description="Probability of such a distance in any feature without drift, by a permutation test"
        " over queries"
    )
    missing_before: float = Field(description="Share of documents without a value in the reference")
    missing_after: float
    verdict: Literal["drift", "shift", "none"] = Field(
        description="`shift`: a significant difference that is smaller than the thresholds"
    )
    sentence: str
    profile: DriftProfile


class DriftReference(ResponseModel):
    """Reference that samples are compared with."""

    dataset_id: str | None = Field(None, description="Dataset that features are compared with")
    scored_dataset_id: str | None = Field(
        None, description="Dataset whose scores are compared with the samples' scores"
    )
    since: datetime | None = Field(None, description="Start of the earlier samples")
    until: datetime | None = None
    queries: int
    documents: int


class DriftComparison(ResponseModel):
    """A comparison of samples with the training data or with earlier samples."""

    compared_with: Literal["training", "previous"] = Field(
        validation_alias="with", serialization_alias="with"
    )
    reference: DriftReference
    queries: int
    documents: int
    verdict: Verdict
    sentence: str
    features: list[DriftColumn] = Field(description="Features, drifted ones first; empty for too few queries")
    scores: DriftColumn | None


class DriftReport(DriftReportEntry):
    """A drift report with its comparisons."""

    model_config = example({**_ENTRY, "comparisons": [_COMPARISON]})

    comparisons: list[DriftComparison]
