"""Metrics as catalogue entries."""

from typing import Any, Literal

from pydantic import Field

from app.http.schemas import ResponseModel
from app.jobs.contract_schemas import Conventions


class MetricDescription(ResponseModel):
    """A metric in the catalogue."""

    name: str = Field(description="Spelling without a cutoff", examples=["ndcg"])
    summary: str = Field(description="One line", examples=["Normalised discounted cumulative gain"])
    formula: str = Field(description="As in its source", examples=["DCG@k / maxDCG@k"])
    source: str = Field(description="Where it comes from", examples=["Järvelin and Kekäläinen 2002"])
    higher_is_better: bool = Field(description="Whether more is better", examples=[True])
    examples: list[str] = Field(description="Spellings that jobs accept", examples=[["ndcg", "ndcg@10"]])
    trec_eval: str | None = Field(
        description="trec_eval's spelling, which keeps its conventions whatever the contract; null where it"
        " has none",
        examples=["ndcg_cut_10"],
    )
    ir_measures: str | None = Field(
        description="ir_measures' spelling, another name of it; null where it has none", examples=["nDCG@10"]
    )
    conventions: list[str] = Field(
        description="Names of the conventions that matter for it", examples=[["gain", "discount", "ties"]]
    )
    contract: dict[str, Any] = Field(description="Those conventions as they are by default")


class DiagnosticDescription(ResponseModel):
    """A diagnostic of a loss that jobs can compute."""

    name: str = Field(examples=["incoherent-queries"])
    title: str = Field(examples=["Queries with an incoherent gradient"])
    summary: str
    source: str = Field(examples=["Marcuzzi et al. 2023, Definition 3.1"])
    unit: Literal["share", "mean"] = Field(description="A share of queries, 0 to 1, or a mean over queries")


class MetricCatalogue(ResponseModel):
    """All metrics and contracts that jobs may name."""

    items: list[MetricDescription]
    presets: dict[str, Conventions] = Field(
        description="Conventions that reproduce a tool, by the name that `contract` takes"
    )
    diagnostics: list[DiagnosticDescription] = Field(description="What `diagnostics` computes")
