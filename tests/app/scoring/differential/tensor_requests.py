"""Tensors of the Open Inference Protocol, as JSON and as bytes, read by Python's own parser and `struct`."""

import json
import math
import random
import struct
from typing import Any

import numpy as np

from app.scoring.inference_head import fast_head, slow_head
from app.scoring.limits import max_containers
from app.scoring.served_models import ServedModel
from app.scoring.tensors import HEAD_BYTES
from app.settings import ApiSettings
from core.errors import InvalidInput
from core.types import Float64Array
from tests.app.scoring.differential.mutations import mutated
from tests.app.scoring.differential.rank_requests import parsed
from tests.app.scoring.differential.requests import (
    BLOCK,
    BLOCK_FEATURES,
    NAMES,
    Answer,
    ExpectedScores,
    Refused,
    Sent,
    cell,
    require,
)

_CODES = {"BOOL": "?", "FP16": "e", "FP32": "f", "FP64": "d", "INT8": "b", "UINT8": "B", "INT16": "h"} | {
    "UINT16": "H",
    "INT32": "i",
    "UINT32": "I",
    "INT64": "q",
    "UINT64": "Q",
}
_MAX_SIZE = 2**31
_MAX_OUTPUTS = 100
_FLAGS = ("binary_data", "binary_data_output")


class TensorRequests:
    """One tensor of all features or one per feature, as JSON or as bytes after the JSON.

    Args:
        binary: Whether the numbers are bytes.
    """

    def __init__(self, *, binary: bool) -> None:
        self.name = "tensors as bytes" if binary else "tensors as JSON"
        self._binary = binary

    def make(self, seed: int) -> Sent:
        """Make the mutated tensor request of a seed."""
        generator = random.Random(seed)
        rows = generator.randrange(5)
        by_name = generator.random() < 0.5
        chosen = generator.sample(NAMES, generator.randrange(1, len(NAMES) + 1)) if by_name else ["x"]
        if by_name and generator.random() < 0.4:
            chosen = [name for name in chosen if name not in BLOCK_FEATURES or generator.random() < 0.1]
            chosen.append(BLOCK)
        inputs, data = [], b""
        for name in chosen:
            shape = [rows, len(NAMES)] if not by_name else generator.choice(([rows], [rows, 1]))
            shape = [rows, len(BLOCK_FEATURES)] if name == BLOCK else shape
            tensor, binary = self._tensor(name, shape, generator)
            inputs.append(tensor)
            data += binary
        body: dict[str, Any] = {"inputs": inputs}
        if generator.random() < 0.2:
            body["id"] = "7"
        if generator.random() < 0.2:
            body["parameters"] = {"binary_data_output": generator.random() < 0.5, "other": [1, {"data": [2]}]}
        if generator.random() < 0.2:
            body["outputs"] = [{"name": "predict"}]
        head = json.dumps(body, ensure_ascii=generator.random() < 0.3).replace("NaN", "null")
        return self._sent(head, data, generator)

    def read(self, sent: Sent, settings: ApiSettings) -> ExpectedScores:
        """Read the head and the tensors as the reference does."""
        head_bytes = int(sent.headers.get(HEAD_BYTES.lower(), len(sent.content)))
        require(head_bytes <= len(sent.content))
        body = parsed(sent.content[:head_bytes], max_containers(settings))
        _check_head(body)
        tensors, at = [], head_bytes
        for tensor in body["inputs"]:
            values, size = _values(tensor, sent.content[at:])
            shape = tensor["shape"]
            require(shape[0] <= settings.max_rank_documents and math.prod(shape) == len(values))
            tensors.append((tensor["name"], shape, np.array(values, np.float64)))
            at += size
        require(at == len(sent.content))
        return ExpectedScores(_features(tensors), lambda scores: scores.tolist())

    def is_stricter(self, answer: Answer) -> bool:
        """Return False: the reference has all rules of the service."""
        return False

    def answered_scores(self, answer: Answer) -> Any:
        """Return the scores of the only output tensor."""
        size = int(answer.headers.get(HEAD_BYTES.lower(), len(answer.content)))
        (output,) = json.loads(answer.content[:size])["outputs"]
        return output["data"] if "data" in output else np.frombuffer(answer.content[size:], "<f8").tolist()

    def compare_readers(self, sent: Sent, model: ServedModel, settings: ApiSettings) -> tuple[bool, str]:
        """Compare `fast_head` with `slow_head`."""
        text = sent.content[: int(sent.headers.get(HEAD_BYTES.lower(), len(sent.content)))]
        fast = fast_head(text, len(NAMES))
        if fast is None:
            return False, ""
        try:
            head = slow_head(text, len(NAMES), max_containers(settings))
        except InvalidInput:
            return True, "only the fast path accepts it"
        expected_values = [tensor.data or [] for tensor in head.inputs if tensor.has_data]
        arrays = [
            np.array([np.nan if value is None else value for value in data], np.float64)
            for data in expected_values
        ]
        blank = [tensor.model_copy(update={"data": None}) for tensor in head.inputs]
        read_tensors = fast[1]
        same = head.model_copy(update={"inputs": blank}) == fast[0] and len(arrays) == len(read_tensors)
        same = same and all(map(_are_equal, arrays, read_tensors))
        return True, "" if same else "the fast and the slow path read different tensors"

    def _tensor(self, name: str, shape: list[int], generator: random.Random) -> tuple[dict[str, Any], bytes]:
        datatype = generator.choice(tuple(_CODES)) if self._binary else generator.choice(("FP32", "FP64"))
        tensor: dict[str, Any] = {"name": name, "shape": shape, "datatype": datatype}
        count = math.prod(shape)
        if self._binary:
            size = count * struct.calcsize(f"<{_CODES[datatype]}")
            tensor["parameters"] = {"binary_data_size": size}
            return tensor, _bytes(datatype, count, generator)
        numbers = (math.nan, 0.0, 1, cell(generator), cell(generator))
        tensor["data"] = [generator.choice(numbers) for _ in range(count)]
        if generator.random() < 0.1:
            tensor["data"] = [[value] for value in tensor["data"]]
        return tensor, b""

    def _sent(self, head: str, data: bytes, generator: random.Random) -> Sent:
        path = "/v2/models/web/infer"
        if not self._binary:
            return Sent(path, mutated(head, generator), {"content-type": "application/json"})
        text = mutated(head, generator) if generator.random() < 0.5 else head.encode()
        if generator.random() < 0.3:
            at, n = generator.randrange(len(data) + 1), generator.randrange(5)
            data = data[:at] + generator.randbytes(generator.randrange(5)) + data[at + n :]
        size = len(text) + (generator.choice((-1, 1, 8, 10**6)) if generator.random() < 0.1 else 0)
        headers = {HEAD_BYTES.lower(): str(max(size, 0)), "content-type": "application/octet-stream"}
        return Sent(path, text + data, headers)


def _are_equal(one: Float64Array, other: Float64Array) -> bool:
    return np.array_equal(one, other, equal_nan=True)


def _bytes(datatype: str, count: int, generator: random.Random) -> bytes:
    if datatype not in ("FP32", "FP64"):
        return generator.randbytes(count * struct.calcsize(f"<{_CODES[datatype]}"))
    numbers = (
        math.nan,
        0.0,
        -0.0,
        1e-40,
        cell(generator),
        cell(generator),
        generator.choice((1e39, math.inf)),
    )
    values = np.array([numbers[min(generator.randrange(60) // 9, 6)] for _ in range(count)])
    with np.errstate(over="ignore"):
        return values.astype("<f4" if datatype == "FP32" else "<f8").tobytes()


def _check_head(body: Any) -> None:
    require(type(body) is dict and {"inputs"} <= body.keys() <= {"id", "parameters", "inputs", "outputs"})
    require(body.get("id") is None or _is_text(body["id"], 1024))
    _check_parameters(body)
    outputs = body.get("outputs")
    require(outputs is None or (type(outputs) is list and len(outputs) <= _MAX_OUTPUTS))
    for output in outputs or ():
        require(type(output) is dict and {"name"} <= output.keys() <= {"name", "parameters"})
        _check_parameters(output)
        require(output["name"] == "predict")
    require(type(body["inputs"]) is list and 1 <= len(body["inputs"]) <= len(NAMES))
    required, optional = {"name", "shape", "datatype"}, {"parameters", "data"}
    for tensor in body["inputs"]:
        require(type(tensor) is dict and required <= tensor.keys() <= required | optional)
        require(_is_text(tensor["name"], 1024) and _is_text(tensor["datatype"], 16))
        shape = tensor["shape"]
        require(type(shape) is list and len(shape) in (1, 2) and all(map(_is_size, shape)))
        _check_parameters(tensor)
        require(tensor.get("data") is None or type(tensor["data"]) is list)
        require(tensor["datatype"] in _CODES)


def _check_parameters(described: dict[str, Any]) -> None:
    parameters = described.get("parameters", {})
    require(type(parameters) is dict)
    size = parameters.get("binary_data_size")
    require(size is None or _is_size(size))
    require(all(parameters.get(name) is None or type(parameters[name]) is bool for name in _FLAGS))


def _is_text(value: Any, longest: int) -> bool:
    return type(value) is str and len(value) <= longest


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MAX_SIZE


def _values(tensor: dict[str, Any], binary: bytes) -> tuple[list[float], int]:
    """Return a tensor's values, and the number of bytes after the JSON that they take."""
    code, size = _CODES[tensor["datatype"]], tensor.get("parameters", {}).get("binary_data_size")
    if size is None:
        require(tensor.get("data") is not None)
        values = [math.nan if value is None else _float(value) for value in _flat(tensor["data"])]
    else:
        width = struct.calcsize(f"<{code}")
        require(len(binary) >= size and size % width == 0)
        values = [float(value) for value in struct.unpack_from(f"<{size // width}{code}", binary)]
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.array(values, np.float64).astype(np.float32)
    require(not np.isinf(rounded).any())
    return rounded.tolist() if tensor["datatype"] == "FP32" else values, size or 0


def _float(value: Any) -> float:
    require(type(value) in (int, float, bool))
    try:
        return float(value)
    except OverflowError as error:
        raise Refused from error


def _flat(data: list[Any]) -> list[Any]:
    return [item for value in data for item in (_flat(value) if type(value) is list else [value])]


def _features(tensors: list[tuple[str, list[int], Float64Array]]) -> Float64Array:
    name, shape, values = tensors[0]
    widths = {**dict.fromkeys(NAMES, 1), BLOCK: len(BLOCK_FEATURES)}
    if len(tensors) == 1 and len(shape) == 2 and shape[1] != widths.get(name):
        require(shape[1] == len(NAMES))
        return values.reshape(-1, len(NAMES))
    features = np.full((shape[0], len(NAMES)), np.nan)
    names = [name for name, _, _ in tensors]
    require(len(set(names)) == len(names))
    require(BLOCK not in names or set(names).isdisjoint(BLOCK_FEATURES))
    for name, (n_documents, *columns), values in tensors:
        require(name in widths and n_documents == shape[0])
        require(columns == [widths[name]] or (not columns and widths[name] == 1))
        first = NAMES.index(BLOCK_FEATURES[0] if name == BLOCK else name)
        features[:, first : first + widths[name]] = values.reshape(n_documents, widths[name])
    return features
