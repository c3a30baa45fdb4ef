"""The file format of networks: safetensors, with a JSON text in the metadata under the key `rankery`.

The tensors belong to the inputs (`inputs.means`, …, float64 and int64) and to the layers
(`layers.0.weights`, (n_inputs, n_outputs), `layers.0.bias`, `layers.0.norm_scales`, …, float32).
Nothing in the file is executed or unpickled, and all values that influence a score are checked.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from core.errors import ModelError
from core.scorers.inputs import KNOTS, InputTransform
from core.scorers.network import Network
from core.scorers.packing import Layer
from core.scorers.parameters import ACTIVATIONS, INPUTS

FORMAT = 1
KIND = "network"
METADATA_KEY = "rankery"
_MAX_HEADER_BYTES = 100_000_000  # limit of the safetensors format
_MAX_LAYERS = 1_000
_MAX_MESSAGE_LENGTH = 300
NORMS = ("norm_scales", "norm_shifts")


def is_safetensors(content: bytes) -> bool:
    """Return whether bytes begin like a safetensors file, which LightGBM's text never does."""
    if len(content) < 10:
        return False
    (size,) = struct.unpack("<Q", content[:8])
    return 2 <= size <= min(_MAX_HEADER_BYTES, len(content) - 8) and content[8:9] == b"{"


def read_description(content: bytes) -> dict[str, Any]:
    """Return the JSON in the metadata of a safetensors file of Rankery.

    Raises:
        ModelError: The file has no such JSON, or is of another release.
    """
    try:
        (size,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + size])
        description = json.loads(header["__metadata__"][METADATA_KEY])
    except (struct.error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelError("the file is not a model of Rankery") from error
    if not isinstance(description, dict) or not _is_current(description.get("format")):
        raise ModelError("the model was written by another release of Rankery")
    return description


def _is_current(format_number: object) -> bool:
    return type(format_number) is int and format_number == FORMAT  # not True, which is equal to 1


def tensors_of(content: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays of a safetensors file.

    Raises:
        ModelError: The file is damaged.
    """
    try:
        return dict(load(content))
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError("the model's file is damaged") from error


def safetensors_bytes(description: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the content of a safetensors file; the same arguments give the same bytes."""
    text = json.dumps({"format": FORMAT, **description}, sort_keys=True, separators=(",", ":"))
    arrays = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    return bytes(save(arrays, {METADATA_KEY: text}))


def write_network(network: Network) -> bytes:
    """Return the file content of a network."""
    tensors = {f"inputs.{name}": array for name, array in network.inputs.arrays().items()}
    for index, layer in enumerate(network.layers):
        tensors |= {f"layers.{index}.{name}": array for name, array in layer.arrays().items()}
    description = {
        "kind": KIND,
        "feature_names": list(network.feature_names),
        "inputs": network.inputs.description(),
        "activation": network.activation,
        "layers": len(network.layers),
    }
    return safetensors_bytes(description, tensors)


def read_network(content: bytes) -> Network:
    """Read a network from the content that `write_network` returned.

    Raises:
        ModelError: The file is damaged, or is not a network.
    """
    description, tensors = read_description(content), tensors_of(content)
    if description.get("kind") != KIND:
        raise ModelError("the file is not a network")
    names = description.get("feature_names")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ModelError("the network has no valid list of feature names")
    inputs = _inputs(description.get("inputs"), tensors, len(names))
    activation, n_layers = description.get("activation"), description.get("layers")
    if activation not in ACTIVATIONS or type(n_layers) is not int or not 1 <= n_layers <= _MAX_LAYERS:
        raise ModelError("the network has no valid description of its layers")
    layers, n_inputs = [], inputs.n_inputs
    for index in range(n_layers):
        layers.append(_layer(tensors, index, n_inputs, is_last=index == n_layers - 1))
        n_inputs = layers[-1].weights.shape[1]
    if n_inputs != 1:
        raise ModelError("the last layer of the network must have one unit, the score of a document")
    _check_all_are_used(tensors, inputs, layers)
    return Network(tuple(names), inputs, tuple(layers), activation)


def _check_all_are_used(
    tensors: Mapping[str, NDArray[Any]], inputs: InputTransform, layers: Sequence[Layer]
) -> None:
    used = {f"inputs.{name}" for name in inputs.arrays()}
    for index, layer in enumerate(layers):
        used |= {f"layers.{index}.{name}" for name in layer.arrays()}
    if unknown := sorted(tensors.keys() - used):
        raise ModelError(f"the network has unknown tensors: {', '.join(unknown)[:_MAX_MESSAGE_LENGTH]}")


def _inputs(description: Any, tensors: Mapping[str, NDArray[Any]], n_features: int) -> InputTransform:
    if (
        not isinstance(description, dict)
        or description.get("kind") not in INPUTS
        or not isinstance(description.get("log1p"), bool)
    ):
        raise ModelError("the network has no valid description of its inputs")
    n_described = description.get("n_features")
    if type(n_described) is not int or n_described != n_features:
        raise ModelError("the number of the network's inputs does not match its features")
    shapes_by_kind: dict[str, dict[str, tuple[int, ...]]] = {
        "standard": {"means": (n_features,), "deviations": (n_features,)},
        "rank-gauss": {"knots": (n_features, KNOTS), "targets": (n_features, KNOTS)},
        "none": {},
    }
    shapes = shapes_by_kind[description["kind"]]
    arrays = {name: _tensor(tensors, f"inputs.{name}", np.float64, shape) for name, shape in shapes.items()}
    if (arrays.get("deviations", np.ones(1)) <= 0).any() or (
        np.diff(arrays.get("knots", np.zeros((1, 2)))) < 0
    ).any():
        raise ModelError("the deviations of the network's inputs must be positive, and knots must ascend")
    indicators = tensors.get("inputs.indicators")
    if indicators is None or indicators.dtype != np.int64 or indicators.ndim != 1:
        raise ModelError("the tensor inputs.indicators of the network is missing or has the wrong type")
    if len(indicators) and not (indicators.min() >= 0 and indicators.max() < n_features):
        raise ModelError("the network has a missing-value indicator for a feature that it does not have")
    if (np.diff(indicators) <= 0).any():
        raise ModelError(
            "the missing-value indicators of the network must be distinct and in the order of the features"
        )
    return InputTransform.restored(description, {**arrays, "indicators": indicators})


def _layer(tensors: Mapping[str, NDArray[Any]], index: int, n_inputs: int, *, is_last: bool) -> Layer:
    weights = tensors.get(f"layers.{index}.weights")
    if weights is None or weights.ndim != 2:
        raise ModelError(f"layer {index} of the network has no weights")
    n_units = weights.shape[1]
    weights = _tensor(tensors, f"layers.{index}.weights", np.float32, (n_inputs, n_units))
    bias = _tensor(tensors, f"layers.{index}.bias", np.float32, (n_units,))
    if is_last or f"layers.{index}.{NORMS[0]}" not in tensors:
        return Layer(weights, bias)
    norms = (_tensor(tensors, f"layers.{index}.{name}", np.float32, (n_units,)) for name in NORMS)
    return Layer(weights, bias, *norms)


def _tensor(
    tensors: Mapping[str, NDArray[Any]], name: str, dtype: type, shape: tuple[int, ...]
) -> NDArray[Any]:
    tensor = tensors.get(name)
    if tensor is None or tensor.dtype != dtype or tensor.shape != shape or not tensor.size:
        raise ModelError(f"the tensor {name} of the network is missing or has the wrong shape")
    if not np.isfinite(tensor).all():
        raise ModelError(f"the tensor {name} of the network has values that are not finite")
    return tensor
