"""Metrics as catalogue entries."""

from typing import Any, Literal

from pydantic import Field

from app.http.schemas import ResponseModel
from app.jobs.contract_schemas import Conventions


class MetricDescription(ResponseModel):
    """A metric in the catalogue."""

    name: str = Field(description="Name without a cutoff", examples=["ndcg"])
    summary: str = Field(description="One-line summary", examples=["Normalised discounted cumulative gain"])
    formula: str = Field(description="Formula as in the source", examples=["DCG@k / maxDCG@k"])
    source: str = Field(description="Publication of the metric", examples=["Järvelin and Kekäläinen 2002"])
    higher_is_better: bool = Field(description="Whether higher values are better", examples=[True])
    examples: list[str] = Field(description="Names that jobs accept", examples=[["ndcg", "ndcg@10"]])
    trec_eval: str | None = Field(
        description="Name in trec_eval, which always uses trec_eval's conventions; null if trec_eval"
        " lacks the metric",
        examples=["ndcg_cut_10"],
    )
    ir_measures: str | None = Field(
        description="Name in ir_measures, as an alternative name; null if ir_measures lacks the metric",
        examples=["nDCG@10"],
    )
    conventions: list[str] = Field(
        description="Names of the conventions that affect the metric", examples=[["gain", "discount", "ties"]]
    )
    contract: dict[str, Any] = Field(description="Default values of these conventions")


class DiagnosticDescription(ResponseModel):
    """A diagnostic of a loss that jobs can compute."""

    name: str = Field(examples=["incoherent-queries"])
    title: str = Field(examples=["Queries with an incoherent gradient"])
    summary: str
    source: str = Field(examples=["Marcuzzi et al. 2023, Definition 3.1"])
    unit: Literal["share", "mean"] = Field(
        description="Whether the value is a share of queries, 0 to 1, or a mean over queries"
    )


class MetricCatalogue(ResponseModel):
    """All metrics and contracts that jobs may name."""

    items: list[MetricDescription]
    presets: dict[str, Conventions] = Field(
        description="Conventions that reproduce a tool, by their name in the field `contract` of requests"
    )
    diagnostics: list[DiagnosticDescription] = Field(
        description="Diagnostics that the field `diagnostics` of requests computes"
    )
