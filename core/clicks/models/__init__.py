"""Click models: how users examine, click and leave lists, estimated from a log."""

from core.clicks.models.evaluation import (
    Evaluation,
    ModelComparison,
    compare_click_models,
    evaluate_click_model,
    held_out_lists,
)
from core.clicks.models.fitting import fit_click_model
from core.clicks.models.model import ClickModel, Interval, Parameters
from core.clicks.models.specification import MODELS, ClickModelSpec, ModelKind

__all__ = [
    "MODELS",
    "ClickModel",
    "ClickModelSpec",
    "Evaluation",
    "Interval",
    "ModelComparison",
    "ModelKind",
    "Parameters",
    "compare_click_models",
    "evaluate_click_model",
    "fit_click_model",
    "held_out_lists",
]
