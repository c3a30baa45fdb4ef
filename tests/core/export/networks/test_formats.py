"""Every format of linear scorers and networks, read by its engine, scores as the model does."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.data import synthetic_dataset
from core.export import FORMATS, Export, ExportOptions, export_model, parity
from core.scorers import Network, write_network
from core.training import training_spec
from core.types import Float32Array, Float64Array
from tests.core.export import engines as code
from tests.core.export.networks import engines
from tests.core.export.test_engines import by_row, cc
from tests.core.scorers.networks import random_features, random_network

__all__ = ["cc"]

N_FEATURES = 7
NAMES = [f"f{number}" for number in range(N_FEATURES)]
OPTIONS = [
    {"kind": kind, "log1p": log1p, "missing_indicators": indicators}
    for kind in ("standard", "rank-gauss", "none")
    for log1p in (False, True)
    for indicators in (False, True)
]
SHAPES: list[dict[str, Any]] = [
    {"hidden": ()},
    {"hidden": (5, 3), "activation": "relu", "layer_norm": True},
    {"hidden": (6,), "activation": "tanh"},
    {"hidden": (4, 9), "activation": "sigmoid", "layer_norm": True},
]
Scores = Callable[[Float64Array], list[float]]


def exported(network: Network, format: str, **options: Any) -> Export:
    """Export a network with the names of the engine."""
    return export_model(write_network(network), format, tuple(NAMES), "web-3", ExportOptions(**options))


def rows_of(seed: int, *, finite: bool) -> Float32Array:
    """Draw documents, some of whose features are missing, and others 0, tiny, huge or infinite."""
    rows = random_features(60, N_FEATURES, seed, missing=0.2)
    extremes = np.array([0.0, -0.0, 1e-45, 1e-20, 3.4e38, -3.4e38], np.float32)
    if not finite:
        rows[1::3] = np.where(
            np.random.default_rng(seed).random(rows[1::3].shape) < 0.5, extremes[seed % 6], rows[1::3]
        )
    return np.where(np.isinf(rows), np.float32(0.5), rows) if finite else rows


def assert_scores(network: Network, score: Scores, *, single: bool = False, shift: float = 0.0) -> None:
    """Compare an engine's scores of 60 documents with the network's."""
    for seed in range(2):
        rows = rows_of(seed, finite=single)
        tolerance = 3e-6 if single else 1e-12
        found = np.array(score(rows.astype(np.float64)))
        np.testing.assert_allclose(found, network.score(rows) + shift, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("inputs", OPTIONS, ids=str)
def test_onnx_and_python_score_as_the_network(inputs: dict[str, Any], shape: dict[str, Any]) -> None:
    """Scores agree within 1e-12 for all inputs and layers, also for missing, infinite and extreme values."""
    network = random_network(N_FEATURES, **shape, **inputs)
    assert_scores(network, lambda rows: code.onnx(exported(network, "onnx").content)(rows).tolist())
    assert_scores(network, by_row(code.python(exported(network, "python").content)))


@pytest.mark.usefixtures("cc")
@pytest.mark.parametrize(("inputs", "shape"), list(zip(OPTIONS, SHAPES * 3, strict=True)), ids=str)
def test_c_scores_as_the_network(inputs: dict[str, Any], shape: dict[str, Any], tmp_path: Path) -> None:
    """Scores agree within 1e-12, and the compiler has no warning."""
    network = random_network(N_FEATURES, **shape, **inputs)
    assert_scores(network, by_row(code.c(exported(network, "c").content, tmp_path, "web_3")))


@pytest.mark.parametrize("kind", ["standard", "none"])
@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", None])
def test_solr_scores_as_the_network(kind: str, activation: str | None) -> None:
    """Scores agree within float32; missing features get defaults, and a linear scorer loses its bias."""
    hidden = (5, 3) if activation else ()
    network = random_network(N_FEATURES, hidden, activation=activation or "relu", kind=kind)
    export = exported(network, "solr")
    features = export.target.companions(export.source, export.content)["features.json"]
    shift = 0.0 if hidden else -float(network.layers[0].bias[0])
    assert export.source.shift == (shift or None)
    assert_scores(network, by_row(engines.solr(export.content, NAMES, features)), single=True, shift=shift)


@pytest.mark.parametrize("format", ["elasticsearch-linear", "opensearch-linear"])
@pytest.mark.parametrize("kind", ["standard", "none"])
def test_plugins_score_as_the_linear_scorer(format: str, kind: str) -> None:
    """Scores agree within float32, without the bias, if the engine gives missing features their means."""
    network = random_network(N_FEATURES, kind=kind)
    export = exported(network, format, never_missing=kind == "standard")
    score, means = by_row(engines.ltr_plugin(export.content, NAMES)), network.inputs.means

    def with_means(rows: Float64Array) -> list[float]:
        return score(np.where(np.isnan(rows), means, rows) if kind == "standard" else rows)

    assert_scores(network, with_means, single=True, shift=-float(network.layers[0].bias[0]))


@pytest.mark.parametrize("kind", ["standard", "none"])
@pytest.mark.parametrize("indicators", [False, True])
def test_vespas_expression_scores_as_the_linear_scorer(kind: str, indicators: bool) -> None:
    """Scores agree within 1e-12, and missing features count as in the model."""
    network = random_network(N_FEATURES, kind=kind, missing_indicators=indicators)
    score = by_row(engines.vespa(exported(network, "vespa").content, NAMES))
    for seed in range(2):
        rows = rows_of(seed, finite=True)
        np.testing.assert_allclose(
            score(rows.astype(np.float64)), network.score(rows), rtol=1e-12, atol=1e-12
        )


def test_vespas_profile_uses_the_onnx_model() -> None:
    """The profile names the model's file, and has a tensor of the features in the model's order."""
    export = exported(random_network(N_FEATURES, (4,)), "vespa")
    assert export.content == exported(random_network(N_FEATURES, (4,)), "onnx").content
    profile = export.target.companions(export.source, export.content)["model.profile"].decode()
    tensor = profile[profile.index("tensor<float>(d0[1],d1[7]):[[") :]
    assert [
        name.strip(" ,\n") for name in tensor.split("[[")[1].split("]]")[0].split("\n") if name.strip()
    ] == NAMES
    assert "file: models/web-3.onnx" in profile
    assert "expression: sum(onnx(web_3).scores)" in profile
    assert profile.count("{") == profile.count("}")


def test_the_stored_file_is_exported_byte_for_byte() -> None:
    """The format `safetensors` is the stored file."""
    network = random_network(N_FEATURES, (4,))
    assert exported(network, "safetensors").content == write_network(network)


@pytest.mark.long
@pytest.mark.parametrize(
    "scorer",
    [{"kind": "linear"}, {"kind": "mlp", "hidden": [16, 8], "layer_norm": True, "inputs": "rank-gauss"}],
)
def test_a_trained_network_is_exported(scorer: dict[str, Any]) -> None:
    """In each format that expresses the network, the parity report is exact and no pair is swapped."""
    from core.training.networks import train_network

    dataset = synthetic_dataset(30, seed=1, n_features=N_FEATURES, documents_per_query=20)
    spec = training_spec({"loss": {"name": "lambdarank"}, "scorer": {**scorer, "epochs": 3}})
    content = train_network(spec, dataset).content
    kind = scorer["kind"]
    refused = {"solr"} if kind == "mlp" else set()
    for name in set(FORMATS[kind]) - refused:
        options = ExportOptions(never_missing=name.endswith("-linear"))
        report = parity(export_model(content, name, tuple(NAMES), options=options), dataset)
        data = report.engines[0].data
        assert report.exact, name
        assert data is not None
        assert (data.documents, data.swapped_pairs, data.ndcg_at_10_difference) == (600, 0, 0.0)
