"""The file of a network."""

import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load, save

from core.errors import ModelError
from core.scorers import Network, TreeModel, is_safetensors, read_model, read_network, write_network
from core.scorers.network_file import METADATA_KEY
from tests.core.scorers.networks import random_features, random_network
from tests.core.scoring.forests import random_model_text

KINDS = ("standard", "rank-gauss", "none")


def _content(**options: Any) -> bytes:
    return write_network(random_network(3, (4, 2), layer_norm=True, missing_indicators=True, **options))


def _description_of(content: bytes) -> dict[str, Any]:
    (size,) = struct.unpack("<Q", content[:8])
    found: dict[str, Any] = json.loads(json.loads(content[8 : 8 + size])["__metadata__"][METADATA_KEY])
    return found


def _changed_file(
    change: Callable[[dict[str, Any], dict[str, Any]], object], content: bytes | None = None
) -> bytes:
    """Return a network's file after a change of its description and tensors."""
    content = content or _content()
    description, tensors = _description_of(content), dict(load(content))
    change(description, tensors)
    return bytes(save(tensors, {METADATA_KEY: json.dumps(description)}))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hidden", [(), (5,), (9, 4)])
def test_a_file_is_read_as_it_was_written(hidden: tuple[int, ...], kind: str) -> None:
    """Scores, names and settings are equal, and writing again gives the same bytes."""
    network = random_network(
        4, hidden, kind=kind, log1p=True, missing_indicators=True, layer_norm=True, activation="tanh"
    )
    content = write_network(network)
    read = read_network(content)
    features = random_features(50, 4)
    np.testing.assert_array_equal(read.score(features), network.score(features))
    assert (read.feature_names, read.activation) == (network.feature_names, "tanh")
    assert write_network(read) == content


def test_the_kind_of_a_model_is_detected_from_its_bytes() -> None:
    """LightGBM's text and a network's file are read by one function."""
    assert isinstance(read_model(_content()), Network)
    text = random_model_text(np.random.default_rng(0), 3, 4, 5)
    assert isinstance(read_model(text.encode()), TreeModel)
    assert not is_safetensors(text.encode())
    assert not is_safetensors(b"")


@given(st.data())
def test_damaged_files_are_refused_or_score(data: st.DataObject) -> None:
    """After changed, missing or additional bytes, the file raises `ModelError` or its scores are finite."""
    content = bytearray(_content())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    _scores_or_refuses(bytes(content[:end]) + data.draw(st.binary(max_size=3)))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(["kind", "feature_names", "inputs", "activation", "layers", "format"]), _JSON)
def test_any_description_is_refused_or_scores(name: str, value: Any) -> None:
    """The reader trusts no entry in the description of an untrusted file."""
    _scores_or_refuses(_changed_file(lambda description, _: description.update({name: value})))


def _scores_or_refuses(content: bytes) -> None:
    try:
        network = read_network(content)
    except ModelError:
        return
    assert np.isfinite(network.score(np.ones((2, network.n_features)))).all()


def _set(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda description, _: description.update({name: value})


def _of_inputs(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda description, _: description["inputs"].update({name: value})


def _tensor(name: str, change: Callable[[Any], Any]) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda _, tensors: tensors.update({name: change(tensors[name])})


def _filled(value: float) -> Callable[[Any], Any]:
    return lambda tensor: np.full_like(tensor, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_set("format", 2), "another release"),
        (_set("format", True), "another release"),
        (_set("format", 1.0), "another release"),
        (_set("kind", "sum"), "not a network"),
        (_set("feature_names", []), "no valid list of feature names"),
        (_set("feature_names", ["a", "b", 3]), "no valid list of feature names"),
        (_set("feature_names", ["a", "b"]), "does not match its features"),
        (_set("activation", "gelu"), "no valid description of its layers"),
        (_set("layers", 0), "no valid description of its layers"),
        (_set("layers", True), "no valid description of its layers"),
        (_set("layers", 2), "must have one unit"),
        (_set("layers", 4), "layer 3 of the network has no weights"),
        (_set("inputs", None), "no valid description of its inputs"),
        (_of_inputs("kind", "minmax"), "no valid description of its inputs"),
        (_of_inputs("kind", ["standard"]), "no valid description of its inputs"),
        (_of_inputs("kind", "rank-gauss"), "inputs.knots of the network is missing"),
        (_of_inputs("log1p", 1), "no valid description of its inputs"),
        (_tensor("inputs.deviations", _filled(0)), "must be positive"),
        (_tensor("inputs.deviations", _filled(np.nan)), "not finite"),
        (
            _tensor("inputs.means", lambda means: means.astype(np.float32)),
            "inputs.means of the network is missing or has the wrong shape",
        ),
        (_tensor("inputs.indicators", _filled(3)), "a feature that it does not have"),
        (_tensor("inputs.indicators", _filled(1)), "must be distinct"),
        (
            _tensor("inputs.indicators", lambda tensor: tensor.astype(np.int32)),
            "indicators of the network is",
        ),
        (_tensor("layers.0.weights", _filled(np.inf)), "not finite"),
        (_tensor("layers.0.weights", lambda weights: weights.T.copy()), "has the wrong shape"),
        (_tensor("layers.1.bias", lambda bias: bias[:1]), "has the wrong shape"),
        (lambda _, tensors: tensors.pop("layers.0.norm_shifts"), "norm_shifts of the network is missing"),
        (lambda _, tensors: tensors.update(other=np.zeros(3)), "other"),
    ],
)
def test_untrusted_files_are_checked(
    change: Callable[[dict[str, Any], dict[str, Any]], object], message: str
) -> None:
    """Everything that decides a score is checked, and the error has the reason."""
    with pytest.raises(ModelError, match=message):
        read_network(_changed_file(change))


def test_knots_that_do_not_ascend_are_refused() -> None:
    """Interpolation between other knots would have no meaning."""
    content = _content(kind="rank-gauss")
    with pytest.raises(ModelError, match="ascend"):
        read_network(_changed_file(_tensor("inputs.knots", lambda knots: knots[:, ::-1].copy()), content))


def test_a_safetensors_file_of_another_program_is_refused() -> None:
    """A file whose header claims to be larger than the file is refused, too."""
    with pytest.raises(ModelError, match="not a model of Rankery"):
        read_model(bytes(save({"weight": np.zeros(3, np.float32)})))
    with pytest.raises(ModelError):
        read_model(struct.pack("<Q", 1_000) + b"{" + b" " * 50)
