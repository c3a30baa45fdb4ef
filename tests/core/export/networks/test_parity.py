"""The parity report of linear scorers and networks: `exact` is true for faithful exports, and only then."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset
from core.errors import InvalidInput, ModelError
from core.export import FORMATS, Export, export_model, parity
from core.export.networks.export import NetworkExport
from core.export.networks.rounding import DOUBLE, SINGLE, rounding_bounds
from core.export.parity_report import NetworkEngineParity
from core.scorers import Network, write_network
from core.types import Float32Array
from tests.core.export.networks.test_formats import N_FEATURES, NAMES, OPTIONS, exported
from tests.core.scorers.networks import random_features, random_network

LINEAR, MLP = random_network(N_FEATURES), random_network(N_FEATURES, (5, 3), activation="tanh")
NEVER_MISSING = {"never_missing": True}


def judged(seed: int = 3) -> RankingDataset:
    """Return drawn documents with random labels; some features are missing."""
    rows = random_features(200, N_FEATURES, seed, missing=0.1)
    labels = np.random.default_rng(seed).integers(5, size=len(rows))
    return RankingDataset.from_arrays(rows, labels, np.arange(0, 201, 10), feature_names=NAMES)


def engine_of(export: Export, data: RankingDataset | None = None) -> NetworkEngineParity:
    """Return the report of the only engine of a format."""
    (engine,) = parity(export, data).engines
    assert isinstance(engine, NetworkEngineParity)
    return engine


def options_of(format: str) -> dict[str, Any]:
    """Return the options without which the format refuses the models here."""
    return NEVER_MISSING if format.endswith("-linear") else {}


@pytest.mark.parametrize(
    ("network", "format"),
    [(network, name) for network in (LINEAR, MLP) for name in FORMATS[network.kind]],
    ids=lambda value: value if isinstance(value, str) else value.kind,
)
def test_a_faithful_export_is_exact(network: Network, format: str) -> None:
    """Documents and edge cases are compared; there are no trees, leaves and splits to compare."""
    export = exported(network, format, **options_of(format))
    report = parity(export, judged())
    assert report.exact
    assert report.trees == 0
    engine = engine_of(export, judged())
    assert engine.data is not None
    assert (engine.data.documents, engine.data.differing_documents, engine.data.leaves) == (200, 0, 0)
    assert engine.neighbours.decisions == 0
    assert (engine.edge_cases.documents, engine.edge_cases.differing_documents) == (512, 0)
    limit = 1e-5 if "added in float32" in engine.arithmetic else 1e-12
    assert engine.data.largest_score_difference < limit
    assert engine.edge_cases.largest_relative_difference < limit


def scale_first(weights: list[Any]) -> None:
    """Increase the first weight by a thousandth."""
    weights[0] = weights[0] * 1.001


def set_relu(layers: list[dict[str, Any]]) -> None:
    """Change the activation of layers to `relu`."""
    for layer in layers:
        layer["activation"] = "relu"


def tampered(export: Export, change: Callable[[dict[str, Any]], None]) -> Export:
    """Change an export in JSON."""
    model = json.loads(export.content)
    change(model)
    return replace(export, content=json.dumps(model).encode())


@pytest.mark.parametrize(
    ("network", "change"),
    [
        (MLP, lambda model: scale_first(model["params"]["layers"][0]["matrix"][0])),
        (MLP, lambda model: scale_first(model["params"]["layers"][1]["bias"])),
        (MLP, lambda model: set_relu(model["params"]["layers"][:-1])),
        (MLP, lambda model: model["features"][0]["norm"]["params"].update(std="1")),
        (LINEAR, lambda model: model["params"]["weights"].update(f0=0.0)),
        (LINEAR, lambda model: model["features"][1].pop("norm")),
    ],
)
def test_a_change_beyond_rounding_is_found(
    network: Network, change: Callable[[dict[str, Any]], None]
) -> None:
    """A weight that differs by a thousandth is found, and so is another bias, activation or scale."""
    export = tampered(exported(network, "solr"), change)
    report, engine = parity(export, judged()), engine_of(export, judged())
    assert not report.exact
    assert engine.edge_cases.differing_documents > 0


def test_layers_of_different_activations_are_refused() -> None:
    """No model has such layers."""
    export = tampered(exported(MLP, "solr"), lambda model: set_relu(model["params"]["layers"][:1]))
    with pytest.raises(ModelError, match="activations of the export differ"):
        parity(export)


def test_a_format_of_float64_shows_the_last_digits() -> None:
    """A mean in the C source that differs in its tenth digit is found."""
    export = exported(MLP, "c")
    mean = repr(float(MLP.inputs.means[4]))
    text = export.content.decode()
    assert text.count(f" {mean},") == 1
    other = replace(export, content=text.replace(f" {mean},", f" {float(mean) * (1 + 1e-9)!r},").encode())
    assert parity(export, judged()).exact
    assert not parity(other, judged()).exact


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid"])
@pytest.mark.parametrize("layer_norm", [False, True])
@pytest.mark.parametrize("inputs", OPTIONS, ids=str)
def test_rounding_is_neither_missed_nor_overrated(
    inputs: dict[str, Any], layer_norm: bool, activation: str
) -> None:
    """The next float32 value of a bias changes scores by more than rounding in float64 explains."""
    network = random_network(N_FEATURES, (6, 4), activation=activation, layer_norm=layer_norm, **inputs)
    rows: Float32Array = random_features(300, N_FEATURES, 5)
    explained = rounding_bounds(network, rows, DOUBLE)
    assert 0.0 < explained.max() < 1e-8
    last = network.layers[-1]
    bias = np.nextafter(last.bias, np.float32(np.inf))
    other = replace(network, layers=(*network.layers[:-1], replace(last, bias=bias)))
    assert (np.abs(other.score(rows) - network.score(rows)) > explained).all()
    assert (rounding_bounds(network, rows, SINGLE) > explained).all()


def test_missing_features_are_left_out_where_there_are_none() -> None:
    """With never_missing, documents and edge cases have no missing features, and a note reports it."""
    export = exported(LINEAR, "elasticsearch-linear", **NEVER_MISSING)
    report = parity(export, judged())
    assert report.exact
    assert any("never_missing" in note for note in report.notes)
    assert any("bias is left out" in note for note in report.notes)
    assert report.score_shift == -float(LINEAR.layers[0].bias[0])


def test_exports_are_read_from_the_file_alone() -> None:
    """A file of another network with the same features differs."""
    for name in ("onnx", "c", "python", "safetensors"):
        export = exported(MLP, name)
        other = exported(random_network(N_FEATURES, (5, 3), activation="tanh", seed=1), name)
        assert not parity(replace(export, content=other.content)).exact


def test_the_names_of_features_do_not_matter() -> None:
    """Names that look like code are read as names."""
    names = ("log1p(x)", 'quote"', "return tanh(value);", "};", "a,b", "ü", "copysign(log1p(x))")
    for name in ("c", "python", "onnx"):
        assert parity(export_model(write_network(LINEAR), name, names)).exact


def test_edge_cases_have_both_neighbours_of_a_knot() -> None:
    """Engines interpolate between knots, on whose two sides the scores may differ, also far from 0."""
    network = random_network(N_FEATURES, kind="rank-gauss")
    export = exported(network, "c")
    assert isinstance(export, NetworkExport)
    base = np.zeros((20_000, N_FEATURES), np.float32)
    drawn = export.edge_cases(export.engines[0], base, np.random.default_rng(0))
    feature = int(np.abs(network.inputs.knots).max(axis=1).argmax())
    knots = network.inputs.knots[feature].astype(np.float32)
    assert np.abs(knots).max() > 1.0
    for end in (-np.inf, np.inf):
        assert np.isin(np.nextafter(knots, np.float32(end)), drawn[:, feature]).all()


def test_options_of_forests_are_refused_by_name() -> None:
    """A linear score has no least value that could be raised to 0."""
    with pytest.raises(InvalidInput, match="not an option of solr"):
        exported(LINEAR, "solr", score_shift=True)
