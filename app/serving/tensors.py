"""Tensors of the Open Inference Protocol, version 2: as JSON, and with its extension for binary data.

https://github.com/kserve/open-inference-protocol
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import JSONDecodeError
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field, ValidationError
from pydantic_core import to_json

from app.bodies import parse_json
from app.pointers import input_problems
from app.schemas.base import RequestModel
from app.serving.models import ServedModel
from core.errors import InvalidInput
from core.json_values import read_arrays
from core.types import Float64Array, FloatArray

INPUT, OUTPUT = "features", "predict"
_DATA = "data"
BINARY_DATA = "binary_tensor_data"
_DATATYPES: Mapping[str, npt.DTypeLike] = MappingProxyType(
    {"BOOL": "?", "FP16": "<f2", "FP32": "<f4", "FP64": "<f8"}
    | {f"INT{8 * size}": f"<i{size}" for size in (1, 2, 4, 8)}
    | {f"UINT{8 * size}": f"<u{size}" for size in (1, 2, 4, 8)}
)
_MATRIX, _COLUMN = 2, 1


class Parameters(RequestModel):
    """What is said of a request or of a tensor beside the tensor; what we know nothing of is passed over."""

    model_config = ConfigDict(extra="ignore")

    binary_data_size: int | None = Field(None, ge=0)
    binary_data: bool | None = None
    binary_data_output: bool | None = None


class InputTensor(RequestModel):
    """Values on their way in."""

    name: str = Field(max_length=1024)
    shape: list[int] = Field(min_length=1, max_length=2)
    datatype: str = Field(max_length=16)
    parameters: Parameters = Field(default_factory=Parameters)
    data: list[Any] | None = None


class WantedOutput(RequestModel):
    """An output that is asked for."""

    name: str = Field(max_length=1024)
    parameters: Parameters = Field(default_factory=Parameters)


class InferenceHead(RequestModel):
    """All of a request but its numbers."""

    id: str | None = Field(None, max_length=1024)
    parameters: Parameters = Field(default_factory=Parameters)
    inputs: list[InputTensor] = Field(min_length=1)
    outputs: list[WantedOutput] | None = None

    @property
    def wants_binary(self) -> bool:
        """Whether the scores are to come as bytes."""
        for output in self.outputs or ():
            if output.parameters.binary_data is not None:
                return output.parameters.binary_data
        return bool(self.parameters.binary_data_output)


@dataclass(frozen=True, eq=False)
class Inference:
    """A request that was read.

    Attributes:
        head: All but the numbers.
        features: (n_documents, n_features) as they came.
    """

    head: InferenceHead
    features: FloatArray


def read_inference(content: bytes, head_bytes: int | None, model: ServedModel, most_values: int) -> Inference:
    """Read a request.

    Args:
        content: Its body.
        head_bytes: How much of it is JSON, None for all.
        model: What is asked.
        most_values: Most numbers that there may be.

    Raises:
        InvalidInput: It is not one that the model can answer.
    """
    if head_bytes is not None and head_bytes > len(content):
        raise InvalidInput.at("", f"the body has {len(content)} bytes, its JSON is said to have {head_bytes}")
    text = content[:head_bytes]
    head, arrays = _quick_head(text) or (_general_head(text), None)
    if any(output.name != OUTPUT for output in head.outputs or ()):
        raise InvalidInput.at("/outputs", f"the only output is {OUTPUT}")
    tensors = list(_tensors(head.inputs, arrays, memoryview(content)[len(text) :], most_values))
    return Inference(head, _features(head.inputs, tensors, model))


def written(model: ServedModel, head: InferenceHead, scores: Float64Array) -> tuple[bytes, int | None]:
    """Write the answer; returns it, and how much of it is JSON where it is not all."""
    output: dict[str, Any] = {"name": OUTPUT, "shape": [len(scores)], "datatype": "FP64"}
    answer = {"model_name": model.name, "model_version": str(model.version), "outputs": [output]}
    if head.id is not None:
        answer["id"] = head.id
    if not head.wants_binary:
        output["data"] = scores.tolist()
        return to_json(answer, inf_nan_mode="null"), None
    data = scores.astype("<f8").tobytes()
    output["parameters"] = {"binary_data_size": len(data)}
    text = to_json(answer)
    return text + data, len(text)


def _quick_head(text: bytes) -> tuple[InferenceHead, list[Float64Array]] | None:
    """Read a text as it mostly is, numbers apart from tensors; None for one that is wrong, or unusual."""
    found = read_arrays(text, _DATA)
    try:
        head = InferenceHead.model_validate(parse_json(found.rest)) if found else None
    except (JSONDecodeError, ValidationError):
        return None
    if found is None or head is None or sum(map(_has_data, head.inputs)) != len(found.arrays):
        return None  # a repeated name hides some of them, or they stand where no tensor is
    return head, found.arrays


def _general_head(text: bytes) -> InferenceHead:
    try:
        parsed = parse_json(text)
        return InferenceHead.model_validate(parsed)
    except JSONDecodeError as error:
        raise InvalidInput.at("", f"is not JSON: {error.msg}") from error
    except ValidationError as error:
        errors = [{**fault, "loc": ("body", *fault["loc"])} for fault in error.errors()]
        raise InvalidInput(*input_problems(errors, parsed)) from error


def _has_data(tensor: InputTensor) -> bool:
    return _DATA in tensor.model_fields_set


def _tensors(
    inputs: Sequence[InputTensor],
    arrays: Sequence[Float64Array] | None,
    binary: memoryview,
    most_values: int,
) -> Iterator[FloatArray]:
    """Give each tensor its shape; bytes follow the JSON in the order of the tensors that want them.

    Args:
        inputs: The tensors.
        arrays: Numbers of those that have `data`, in their order; None where they are in the tensors.
        binary: What follows the JSON.
        most_values: Most numbers that a tensor may have.
    """
    at, read = 0, iter(arrays or ())
    for number, tensor in enumerate(inputs):
        place = f"/inputs/{number}"
        dtype = _DATATYPES.get(tensor.datatype)
        if dtype is None:
            known = ", ".join(_DATATYPES)
            raise InvalidInput.at(f"{place}/datatype", f"must be one of {known}")
        flat = next(read) if arrays is not None and _has_data(tensor) else None
        size = tensor.parameters.binary_data_size
        if size is not None:
            values = _from_bytes(binary[at : at + size], size, dtype, place)
            at += size
        else:
            values = _flat(tensor.data, place) if flat is None else flat
        if min(tensor.shape) < 0 or values.size != math.prod(tensor.shape):
            raise InvalidInput.at(f"{place}/shape", f"is {tensor.shape}, and there are {values.size} values")
        if values.size > most_values:
            raise InvalidInput.at(f"{place}/shape", f"at most {most_values} values are scored at once")
        if values.dtype not in (np.float32, np.float64):
            values = values.astype(np.float64)
        # JSON has no types: what is said to be of 32 bits is rounded to them.
        yield values.astype(np.float32 if tensor.datatype == "FP32" else values.dtype).reshape(tensor.shape)
    if at != len(binary):
        raise InvalidInput.at("/inputs", f"take {at} bytes of binary data, and there are {len(binary)}")


def _from_bytes(part: memoryview, size: int, dtype: npt.DTypeLike, place: str) -> npt.NDArray[Any]:
    pointer = f"{place}/parameters/binary_data_size"
    if len(part) < size or size % np.dtype(dtype).itemsize:
        raise InvalidInput.at(pointer, f"is {size}, and there are {len(part)} bytes of whole values")
    return np.frombuffer(part, dtype)


def _flat(data: Any, place: str) -> Float64Array:
    """Flatten numbers in lists within lists, null for what is missing."""
    if data is None:
        raise InvalidInput.at(f"{place}/data", "required")
    values = [float("nan") if value is None else value for value in _numbers(data)]
    if not all(type(value) in (int, float, bool) for value in values):
        raise InvalidInput.at(f"{place}/data", "must be numbers, and null for missing values")
    try:
        return np.array(values, np.float64)
    except OverflowError as error:
        raise InvalidInput.at(f"{place}/data", "has a number beyond the range of float64") from error


def _numbers(data: Any) -> Iterator[Any]:
    for value in data:
        if type(value) is list:
            yield from _numbers(value)
        else:
            yield value


def _features(inputs: Sequence[InputTensor], tensors: Sequence[FloatArray], model: ServedModel) -> FloatArray:
    """Make one matrix: of one tensor of all features, or of one tensor a feature by name."""
    n_features = len(model.feature_names)
    if len(tensors) == 1 and tensors[0].ndim == _MATRIX:
        if tensors[0].shape[1] != n_features:
            raise InvalidInput.at(
                "/inputs/0/shape", f"is {list(tensors[0].shape)}; the model has {n_features} features"
            )
        return tensors[0]
    columns = {name: column for column, name in enumerate(model.feature_names)}
    features = np.full((len(tensors[0]), n_features), np.nan)
    for number, (tensor, values) in enumerate(zip(inputs, tensors, strict=True)):
        if tensor.name not in columns:
            raise InvalidInput.at(f"/inputs/{number}/name", "not a feature of this model")
        if values.shape not in ((len(features),), (len(features), _COLUMN)):
            raise InvalidInput.at(
                f"/inputs/{number}/shape", f"must be [{len(features)}] as the first tensor's"
            )
        features[:, columns[tensor.name]] = values.reshape(-1)
    return features
