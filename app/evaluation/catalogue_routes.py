"""Catalogue of the registered losses, scorers and metrics."""

from app.evaluation.metric_schemas import DiagnosticDescription, MetricCatalogue, MetricDescription
from app.http.openapi import NOT_MODIFIED, problems
from app.http.route import JsonRoute, Router
from app.jobs.contract_schemas import Conventions
from app.jobs.parameter_schemas import (
    LossCatalogue,
    LossDescription,
    ScorerCatalogue,
    ScorerDescription,
    describe,
)
from core.diagnostics import DIAGNOSTICS
from core.losses import LOSSES
from core.metrics import METRICS, PRESETS, ir_measures_spelling, parse_metric, trec_eval_spelling
from core.scorers import SCORERS

router = Router(prefix="/v1", tags=["catalogue"], route_class=JsonRoute)


@router.get("/losses", summary="List losses", responses={**NOT_MODIFIED, **problems()})
def list_losses() -> LossCatalogue:
    """List the losses that a training job may name, with their hyperparameters and bounds."""
    return LossCatalogue(
        items=[
            LossDescription(
                name=name,
                summary=loss.summary,
                formula=loss.formula,
                source=loss.source,
                choose=loss.choose,
                parameters=describe(loss),
            )
            for name, loss in LOSSES.items()
        ]
    )


@router.get("/scorers", summary="List scorers", responses={**NOT_MODIFIED, **problems()})
def list_scorers() -> ScorerCatalogue:
    """List the kinds of scorers of training jobs: trees, linear scorers, networks and sums of models."""
    return ScorerCatalogue(
        items=[
            ScorerDescription(
                kind=kind,
                summary=scorer.summary,
                is_network=scorer.is_network,
                parameters=describe(scorer),
            )
            for kind, scorer in SCORERS.items()
        ]
    )


@router.get("/metrics", summary="List metrics", responses={**NOT_MODIFIED, **problems()})
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
        diagnostics=[DiagnosticDescription.model_validate(found) for found in DIAGNOSTICS.values()],
    )
