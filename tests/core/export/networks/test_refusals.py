"""Networks that a format cannot express are refused, with the reason and a solution."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from core.errors import InvalidInput, ModelError
from core.export import FORMATS, export_model, parity
from core.scorers import write_network
from tests.core.export.models import trained
from tests.core.export.networks.test_formats import N_FEATURES, exported
from tests.core.scorers.networks import random_network

_PLUGINS = ("elasticsearch-linear", "opensearch-linear")
# Arguments of `random_network`, and the words for them in the error.
_REFUSED_INPUTS: dict[str, tuple[dict[str, Any], str]] = {
    "log1p": ({"log1p": True}, r"the logarithms \(log1p\)"),
    "rank-gauss": ({"kind": "rank-gauss"}, "the rank-gauss inputs"),
    "indicators": ({"missing_indicators": True}, "the missing-value indicators"),
}


@pytest.mark.parametrize("format", ["solr", *_PLUGINS])
@pytest.mark.parametrize("part", list(_REFUSED_INPUTS))
def test_inputs_that_an_engine_lacks_are_refused(format: str, part: str) -> None:
    """The error names the inputs, and proposes another training or a format that expresses them."""
    inputs, words = _REFUSED_INPUTS[part]
    with pytest.raises(
        ModelError, match=rf"{format} cannot express {words} of the model\. Train with .* onnx"
    ):
        exported(random_network(N_FEATURES, **inputs), format, never_missing=True)


def test_a_layer_norm_is_refused_by_solr() -> None:
    """One error lists the layer norm and all other properties that Solr cannot express."""
    network = random_network(N_FEATURES, (4,), layer_norm=True, log1p=True)
    with pytest.raises(ModelError, match=r"the logarithms .* and the layer norm of the model"):
        exported(network, "solr")


@pytest.mark.parametrize("part", ["log1p", "rank-gauss"])
def test_vespas_expression_points_to_onnx(part: str) -> None:
    """The error proposes ONNX, which Vespa reads, too."""
    with pytest.raises(ModelError, match="Export the model as onnx, which Vespa reads, too"):
        exported(random_network(N_FEATURES, **_REFUSED_INPUTS[part][0]), "vespa")


@pytest.mark.parametrize("format", _PLUGINS)
def test_missing_features_that_count_as_0_are_refused(format: str) -> None:
    """Features that are never missing, have mean 0 or have no weight are accepted."""
    network = random_network(N_FEATURES)
    with pytest.raises(
        ModelError, match=rf"by 0: {N_FEATURES} of {N_FEATURES} features differ \('f0' at .*never_missing"
    ):
        exported(network, format)
    exported(network, format, never_missing=True)
    centred = replace(network, inputs=replace(network.inputs, means=np.zeros(N_FEATURES)))
    assert parity(exported(centred, format)).exact
    weights = network.layers[0].weights.copy()
    weights[1:] = 0.0
    lone = replace(network, layers=(replace(network.layers[0], weights=weights),))
    with pytest.raises(ModelError, match="by 0: 1 of"):
        exported(lone, format)


@pytest.mark.parametrize("format", ["solr", *_PLUGINS])
@pytest.mark.parametrize(("means", "deviations"), [(1e39, 1.0), (0.0, 1e-40), (0.0, 1e39)])
def test_scales_beyond_float32_are_refused(format: str, means: float, deviations: float) -> None:
    """In float32, such means and deviations would be infinite or 0."""
    network = random_network(N_FEATURES)
    arrays: dict[str, Any] = {
        "means": np.full(N_FEATURES, means),
        "deviations": np.full(N_FEATURES, deviations),
    }
    beyond = replace(network, inputs=replace(network.inputs, **arrays))
    with pytest.raises(ModelError, match="exceed the range of float32"):
        exported(beyond, format, never_missing=True)


@pytest.mark.parametrize("format", ["solr", "elasticsearch-linear"])
def test_scores_beyond_float32_are_refused(format: str) -> None:
    """The parity report has no NaN, which JSON does not have; in float64 the same scores are finite."""
    network = random_network(N_FEATURES, kind="none")
    (layer,) = network.layers
    large = replace(network, layers=(replace(layer, weights=layer.weights * np.float32(1e38)),))
    with pytest.raises(ModelError, match=r"computes scores that are not finite.*onnx, c or python"):
        parity(exported(large, format, never_missing=True))
    assert parity(exported(large, "c")).exact


@pytest.mark.parametrize(
    ("hidden", "format", "words"),
    [
        ((), "lightgbm", "lightgbm cannot express a linear scorer; use one of vespa, solr, elastic"),
        ((), "ranklib", "ranklib cannot express a linear scorer"),
        ((4,), "elasticsearch-xgboost", "cannot express a network; use one of vespa, solr, onnx, c"),
        ((4,), "elasticsearch-linear", "elasticsearch-linear cannot express a network"),
    ],
)
def test_formats_of_other_models_are_refused(hidden: tuple[int, ...], format: str, words: str) -> None:
    """The error lists the suitable formats."""
    with pytest.raises(InvalidInput, match=words):
        exported(random_network(N_FEATURES, hidden), format)


def test_forests_are_refused_by_formats_of_networks() -> None:
    """The error has the same form and lists the suitable formats."""
    with pytest.raises(InvalidInput, match="safetensors cannot express a forest; use one of lightgbm"):
        export_model(trained(), "safetensors")


@pytest.mark.parametrize("hidden", [(), (4,)])
def test_names_that_cannot_be_rank_features_of_vespa_are_refused(hidden: tuple[int, ...]) -> None:
    """The error has the name."""
    content = write_network(random_network(2, hidden))
    with pytest.raises(InvalidInput, match="neither a rank feature"):
        export_model(content, "vespa", ("bm25(title)", "age/days"))


def test_damaged_files_are_refused_in_every_format() -> None:
    """A truncated network file is a `ModelError` in every format."""
    content = write_network(random_network(N_FEATURES, (4,)))
    damaged: Any = content[:-4]
    for name in FORMATS["mlp"]:
        with pytest.raises(ModelError):
            export_model(damaged, name)
