"""Try an imported model in a separate process with limits, started by `core.process_start`."""

import json
import os
import resource
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import ModelError, ScoreNotFinite
from core.scorers.explainability import explainability_of, explainer_of
from core.scorers.network import Network
from core.scorers.network_file import is_safetensors
from core.scorers.reading import read_model, with_line_feeds
from core.scorers.sum import Sum
from core.scoring import Explainability
from core.scoring.model_text import FOREIGN
from core.scoring.trial import (
    EXTREME_SHARE,
    EXTREME_VALUES,
    MAX_CELLS,
    MAX_ROWS,
    MIN_ROWS,
    check_names,
    explain_some,
    try_out,
)
from core.types import Float64Array


@dataclass(frozen=True)
class TriedModel:
    """Properties of an imported model that passed the trial.

    Attributes:
        best_iteration: Number of trees of a forest; 0 for other models, whose files do not count epochs.
        scorer: Kind and structure, as trainings store them; None for trees.
        explainability: Whether the model's scores can be explained; the trial explains some scores unless
            that takes too long.
        has_unassigned_categories: Whether a forest has lists of categories of unknown columns.
    """

    feature_names: tuple[str, ...]
    best_iteration: int
    scorer: dict[str, Any] | None
    explainability: Explainability
    has_unassigned_categories: bool = False


def try_file(content: bytes, max_features: int) -> TriedModel:
    """Read a model file, score random documents and explain some of the scores.

    Raises:
        ModelError: The model cannot be used.
    """
    if not is_safetensors(content):
        trial = try_out(_decoded(with_line_feeds(content)), max_features)
        return TriedModel(
            trial.feature_names, trial.n_trees, None, trial.explainability, trial.has_unassigned_categories
        )
    model = read_model(content)
    check_names(model.feature_names, max_features)
    if isinstance(model, Sum):
        return _try_sum(model, max_features)
    if not isinstance(model, Network):
        raise TypeError(type(model))
    rows = _rows(model.inputs.means, model.inputs.deviations, len(model.feature_names))
    try:
        model.score(rows)
    except ScoreNotFinite as error:
        raise ModelError(
            f"the model's score of a random document is {error.score}, which is not finite"
        ) from error
    explainability = explainability_of(model)
    explain_some(explainability, rows, lambda chosen: explainer_of(model).explain(chosen))
    return TriedModel(model.feature_names, 0, _structure(model), explainability)


def _try_sum(model: Sum, max_features: int) -> TriedModel:
    for member in model.members:
        try_file(member.content, max_features)
    return TriedModel(model.feature_names, 0, model.description(), explainability_of(model))


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(FOREIGN) from error


def _rows(means: Float64Array, deviations: Float64Array, n_features: int) -> Float64Array:
    """Draw normal documents with the given means and deviations, and replace a share by `EXTREME_VALUES`."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(int(np.clip(MAX_CELLS // n_features, MIN_ROWS, MAX_ROWS)), n_features))
    if len(means):
        rows = means + rows * deviations
    is_extreme = random.random(rows.shape) < EXTREME_SHARE
    rows[is_extreme] = random.choice(EXTREME_VALUES, size=np.count_nonzero(is_extreme))
    return rows


def _structure(network: Network) -> dict[str, Any]:
    inputs = network.inputs
    structure: dict[str, Any] = {
        "kind": network.kind,
        "inputs": inputs.kind,
        "log1p": inputs.log1p,
        "missing_indicators": len(inputs.indicators) > 0,
    }
    hidden = network.layers[:-1]
    if hidden:
        structure["hidden"] = [len(layer.bias) for layer in hidden]
        structure["activation"] = network.activation
        structure["layer_norm"] = any(layer.norm_scales is not None for layer in hidden)
    return structure


def main(path: str, max_features: str, cpu_seconds: str, memory_bytes: str) -> None:
    """Try a file within limits, and write the result to standard output as JSON."""
    # LightGBM writes to standard output, too.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _limit_resource(resource.RLIMIT_CPU, int(cpu_seconds))
    _limit_resource(resource.RLIMIT_DATA, int(memory_bytes))
    _limit_resource(resource.RLIMIT_CORE, 0)
    with output:
        json.dump(_result_json(Path(path), int(max_features)), output)


def _limit_resource(kind: int, limit: int) -> None:
    _, hard_limit = resource.getrlimit(kind)
    # Keep the hard limit: the signal at the soft limit identifies which limit was reached.
    resource.setrlimit(
        kind, (limit if hard_limit == resource.RLIM_INFINITY else min(limit, hard_limit), hard_limit)
    )


def _result_json(path: Path, max_features: int) -> dict[str, Any]:
    try:
        return asdict(try_file(path.read_bytes(), max_features))
    except ModelError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "loading the model exceeds the memory limit"}
