"""Catalogue of the registered losses, scorers and metrics."""

from typing import Any, Literal

from pydantic import Field

from app.http.openapi import etag_responses
from app.http.route import JsonRoute, Router
from app.http.schemas import ResponseModel
from app.jobs import parameter_schemas
from app.jobs.contract_schemas import Conventions
from core.diagnostics import DIAGNOSTICS
from core.losses import LOSSES
from core.metrics import METRICS, PRESETS, ir_measures_spelling, parse_metric, trec_eval_spelling
from core.scorers import SCORERS


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


router = Router(prefix="/v1", tags=["catalogue"], route_class=JsonRoute)


@router.get("/losses", summary="List losses", responses=etag_responses())
def list_losses() -> parameter_schemas.LossCatalogue:
    """List the losses that a training job may name, with their hyperparameters and bounds."""
    return parameter_schemas.LossCatalogue(
        items=[
            parameter_schemas.LossDescription(
                name=name,
                summary=loss.summary,
                formula=loss.formula,
                source=loss.source,
                choose=loss.choose,
                parameters=parameter_schemas.describe(loss),
            )
            for name, loss in LOSSES.items()
        ]
    )


@router.get("/scorers", summary="List scorers", responses=etag_responses())
def list_scorers() -> parameter_schemas.ScorerCatalogue:
    """List the kinds of scorers of training jobs: trees, linear scorers, networks and sums of models."""
    return parameter_schemas.ScorerCatalogue(
        items=[
            parameter_schemas.ScorerDescription(
                kind=kind,
                summary=scorer.summary,
                is_network=scorer.is_network,
                parameters=parameter_schemas.describe(scorer),
            )
            for kind, scorer in SCORERS.items()
        ]
    )


@router.get("/metrics", summary="List metrics", responses=etag_responses())
def list_metrics() -> MetricCatalogue:
    """List the metrics that jobs may name, and the contracts that reproduce other tools' numbers."""
    return MetricCatalogue(
        items=[
            MetricDescription(
                name=name,
                summary=metric.summary,
                formula=metric.formula,
                source=metric.source,
                higher_is_better=metric.higher_is_better,
                examples=list(metric.examples()),
                trec_eval=trec_eval_spelling(name),
                ir_measures=ir_measures_spelling(name),
                conventions=list(parse_metric(name).contract()),
                contract=parse_metric(name).contract(),
            )
            for name, metric in METRICS.items()
        ],
        presets={name: Conventions.model_validate(preset) for name, preset in PRESETS.items()},
        diagnostics=[DiagnosticDescription.model_validate(each) for each in DIAGNOSTICS.values()],
    )
