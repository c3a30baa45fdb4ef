"""Candidates and scores as tensors of the Open Inference Protocol, version 2, in JSON and binary data."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic_core import to_json
from starlette.responses import Response

from app.http.thread_pools import SCORING
from app.scoring.candidates import CandidateIds, CandidateReader
from app.scoring.inference_head import InferenceHead, InputTensor, fast_head, slow_head
from app.scoring.limits import check_documents, max_containers
from app.scoring.served_models import ServedModel
from app.scoring.threads import MAX_INLINE_JSON_BYTES, run_inline_or_threaded
from app.settings import ApiSettings
from core.errors import InvalidInput
from core.types import Float32Array, Float64Array, FloatArray

HEAD_BYTES = "Inference-Header-Content-Length"
INPUT, OUTPUT = "features", "predict"
BINARY_DATA = "binary_tensor_data"
DATATYPES: Mapping[str, npt.DTypeLike] = MappingProxyType(
    {"BOOL": "?", "FP16": "<f2", "FP32": "<f4", "FP64": "<f8"}
    | {f"INT{8 * size}": f"<i{size}" for size in (1, 2, 4, 8)}
    | {f"UINT{8 * size}": f"<u{size}" for size in (1, 2, 4, 8)}
)
BYTES = "BYTES"
_LENGTH_BYTES = 4  # before each text in binary data
_MATRIX_DIMENSIONS, _ONE_COLUMN = 2, 1


@dataclass(frozen=True, eq=False)
class Inference:
    """A parsed inference request.

    Attributes:
        head: The request without its numbers.
        tensors: One tensor of all features, (n_documents, n_features), or one for each feature or block.
        columns: Feature columns of each tensor; None for one tensor of all features.
    """

    head: InferenceHead
    tensors: Sequence[FloatArray]
    columns: Sequence[range] | None

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return len(self.tensors[0])

    def matrix(self, model: ServedModel) -> FloatArray:
        """Return the features in the precision of the model, NaN where missing."""
        with np.errstate(invalid="ignore"):  # signalling NaN raises `invalid`
            return self._matrix(model)

    def _matrix(self, model: ServedModel) -> FloatArray:
        if self.columns is None:
            return model.coded(self.tensors[0]).astype(model.scorer.precision, copy=False)
        features = np.full((self.n_documents, len(model.feature_names)), np.nan, model.scorer.precision)
        for columns, values, tensor in zip(self.columns, self.tensors, self.head.inputs, strict=True):
            rows = values.reshape(-1, len(columns))
            features[:, columns.start : columns.stop] = rows
            for index, column in enumerate(columns if model.categories else ()):
                categories = model.categories.get(model.feature_names[column])
                if categories is not None and tensor.datatype != BYTES:
                    features[:, column] = categories.codes_of_numbers(rows[:, index])
        return features

    def ids(self) -> CandidateIds:
        """Return one query of documents without ids: the protocol has none."""
        return CandidateIds([None], [[None] * self.n_documents])

    def answer(self, model: ServedModel, scores: Float64Array) -> Response:
        """Return the scores as one tensor, as binary data after the JSON if requested."""
        output: dict[str, Any] = {"name": OUTPUT, "shape": [len(scores)], "datatype": "FP64"}
        answer = {"model_name": model.name, "model_version": str(model.version), "outputs": [output]}
        if self.head.id is not None:
            answer["id"] = self.head.id
        if not self.head.wants_binary:
            output["data"] = scores.tolist()
            return Response(to_json(answer), media_type="application/json")
        data = scores.astype("<f8").tobytes()
        output["parameters"] = {"binary_data_size": len(data)}
        text = to_json(answer)
        headers = {HEAD_BYTES: str(len(text))}
        return Response(text + data, media_type="application/octet-stream", headers=headers)


@dataclass(frozen=True)
class InferenceReader(CandidateReader):
    """Reader of an inference request.

    Attributes:
        head_bytes: Length of the JSON at the start of the body, in bytes; None for the whole body.
    """

    content: bytes
    head_bytes: int | None

    async def read(self, model: ServedModel, settings: ApiSettings) -> Inference:
        """Read the candidates, on the event loop for a short body in the common form, else in a thread."""
        fits_event_loop = len(self.content) <= MAX_INLINE_JSON_BYTES
        inference = await run_inline_or_threaded(
            lambda: self._read_fast(model, settings), fits_event_loop=fits_event_loop
        )
        if inference is not None:
            return inference
        return await SCORING.run(lambda: self._read_slow(model, settings))

    def _read_fast(self, model: ServedModel, settings: ApiSettings) -> Inference | None:
        """Read a body in the common form, in linear time; return None for any other body."""
        text, binary = _parts(self.content, self.head_bytes)
        head = fast_head(text, len(model.feature_names))
        return _inference(*head, binary, model, settings) if head else None

    def _read_slow(self, model: ServedModel, settings: ApiSettings) -> Inference:
        text, binary = _parts(self.content, self.head_bytes)
        head = slow_head(text, len(model.feature_names), max_containers(settings))
        return _inference(head, None, binary, model, settings)


def _parts(content: bytes, head_bytes: int | None) -> tuple[bytes, memoryview]:
    if head_bytes is not None and head_bytes > len(content):
        raise InvalidInput.at(
            "", f"the body has {len(content)} bytes, fewer than the {head_bytes} of its JSON"
        )
    text = content[:head_bytes]
    return text, memoryview(content)[len(text) :]


def _inference(
    head: InferenceHead,
    arrays: Sequence[Float64Array] | None,
    binary: memoryview,
    model: ServedModel,
    settings: ApiSettings,
) -> Inference:
    if any(output.name != OUTPUT for output in head.outputs or ()):
        raise InvalidInput.at("/outputs", f"the only output is {OUTPUT}")
    for index, tensor in enumerate(head.inputs):
        check_documents(tensor.shape[0], len(model.feature_names), settings, f"/inputs/{index}/shape")
    tensors = list(_tensors(head.inputs, arrays, binary, model))
    return Inference(head, tensors, _columns(head.inputs, tensors, model))


def _tensors(
    inputs: Sequence[InputTensor],
    arrays: Sequence[Float64Array] | None,
    binary: memoryview,
    model: ServedModel,
) -> Iterator[FloatArray]:
    """Yield the values of each tensor in its shape; binary data follows the JSON in the order of tensors.

    Args:
        arrays: Numbers of the tensors that have `data`, in order; None if they are in `InputTensor.data`.
        binary: The bytes after the JSON.
        model: The model, which has the codes of categories.
    """
    offset, unread = 0, iter(arrays or ())
    for index, tensor in enumerate(inputs):
        pointer = f"/inputs/{index}"
        size = tensor.parameters.binary_data_size
        if tensor.datatype == BYTES and tensor.name in model.categories:
            yield _codes(tensor, None if size is None else binary[offset : offset + size], model, pointer)
            offset += size or 0
            continue
        dtype = DATATYPES.get(tensor.datatype)
        if dtype is None:
            accepted = ", ".join(DATATYPES)
            raise InvalidInput.at(
                f"{pointer}/datatype", f"must be one of {accepted}, or {BYTES} for a category"
            )
        flat = next(unread) if arrays is not None and tensor.has_data else None
        if size is not None:
            values = _from_bytes(binary[offset : offset + size], size, dtype, pointer)
            offset += size
        else:
            values = _flat(tensor.data, pointer) if flat is None else flat
        if values.size != math.prod(tensor.shape):
            raise InvalidInput.at(
                f"{pointer}/shape", f"is {tensor.shape}, but there are {values.size} values"
            )
        yield _in_range(values, tensor, pointer).reshape(tensor.shape)
    if offset != len(binary):
        raise InvalidInput.at(
            "/inputs", f"need {offset} bytes of binary data, but the body has {len(binary)}"
        )


def _codes(tensor: InputTensor, part: memoryview | None, model: ServedModel, pointer: str) -> FloatArray:
    """Return the codes of a tensor of texts: the values of one categorical feature."""
    categories = model.categories[tensor.name]
    if len(tensor.shape) == _MATRIX_DIMENSIONS and tensor.shape[1] != _ONE_COLUMN:
        raise InvalidInput.at(
            f"{pointer}/shape", f"must be the shape of one feature for the datatype {BYTES}"
        )
    texts = (
        _texts_of_data(tensor.data, pointer) if part is None else list(_texts_of_bytes(part, tensor, pointer))
    )
    if len(texts) != tensor.shape[0]:
        raise InvalidInput.at(f"{pointer}/shape", f"is {tensor.shape}, but there are {len(texts)} values")
    codes = np.array([np.nan if text is None else categories.code(text) for text in texts], np.float32)
    return codes.reshape(tensor.shape)


def _texts_of_data(data: Any, pointer: str) -> list[str | None]:
    if data is None:
        raise InvalidInput.at(f"{pointer}/data", "required")
    values = list(_flattened(data))
    if not all(value is None or type(value) is str for value in values):
        raise InvalidInput.at(f"{pointer}/data", "must be texts, and null for missing values")
    return values


def _texts_of_bytes(part: memoryview, tensor: InputTensor, pointer: str) -> Iterator[str]:
    """Yield UTF-8 texts, each after its length as four little-endian bytes."""
    size_pointer = f"{pointer}/parameters/binary_data_size"
    offset = 0
    if len(part) != tensor.parameters.binary_data_size:
        raise InvalidInput.at(size_pointer, f"must be at most the {len(part)} remaining bytes of the body")
    while offset < len(part):
        size = int.from_bytes(part[offset : offset + _LENGTH_BYTES], "little")
        text = bytes(part[offset + _LENGTH_BYTES : offset + _LENGTH_BYTES + size])
        offset += _LENGTH_BYTES + size
        try:
            if offset > len(part):
                raise ValueError
            yield text.decode()
        except ValueError as error:
            raise InvalidInput.at(
                size_pointer, "must be the size of UTF-8 texts, each after its length in four bytes"
            ) from error


def _in_range(values: npt.NDArray[Any], tensor: InputTensor, pointer: str) -> FloatArray:
    """Return the numbers as float32 or float64; refuse those beyond the range of float32."""
    with np.errstate(over="ignore", invalid="ignore"):  # signalling NaN raises `invalid`
        # Copy read-only views of the body: the kernels would be compiled again for read-only arrays.
        floats: Float64Array = values.astype(np.float64, copy=not values.flags.writeable)
        rounded: Float32Array = floats.astype(np.float32)
    if (beyond := np.isinf(rounded)).any():
        index = int(beyond.argmax())
        raise InvalidInput.at(
            f"{pointer}/data", f"has a value beyond the range of float32 at index {index} in row-major order"
        )
    # JSON has no types: round the values of a tensor with the datatype FP32.
    return rounded if tensor.datatype == "FP32" else floats


def _from_bytes(part: memoryview, size: int, dtype: npt.DTypeLike, pointer: str) -> npt.NDArray[Any]:
    size_pointer = f"{pointer}/parameters/binary_data_size"
    if len(part) < size or size % np.dtype(dtype).itemsize:
        raise InvalidInput.at(
            size_pointer,
            f"is {size}, but must be a multiple of the value size, and at most the {len(part)} remaining"
            " bytes",
        )
    return np.frombuffer(part, dtype)


def _flat(data: Any, pointer: str) -> Float64Array:
    """Flatten nested lists of numbers; null is a missing value, NaN."""
    if data is None:
        raise InvalidInput.at(f"{pointer}/data", "required")
    values = [float("nan") if value is None else value for value in _flattened(data)]
    if not all(type(value) in (int, float, bool) for value in values):
        raise InvalidInput.at(f"{pointer}/data", "must be numbers, and null for missing values")
    try:
        return np.array(values, np.float64)
    except OverflowError as error:
        raise InvalidInput.at(f"{pointer}/data", "has a number beyond the range of float64") from error


def _flattened(data: Any) -> Iterator[Any]:
    for value in data:
        if type(value) is list:
            yield from _flattened(value)
        else:
            yield value


def _columns(
    inputs: Sequence[InputTensor], tensors: Sequence[FloatArray], model: ServedModel
) -> list[range] | None:
    """Return the feature columns of each tensor, None for one tensor of all features; check the shapes."""
    first = tensors[0]
    if (
        len(tensors) == 1
        and first.ndim == _MATRIX_DIMENSIONS
        and first.shape[1] != len(model.columns.get(inputs[0].name, ()))
    ):
        n_features = len(model.feature_names)
        if first.shape[1] != n_features:
            raise InvalidInput.at(
                "/inputs/0/shape", f"is {list(first.shape)}; the model has {n_features} features"
            )
        return None
    columns_of: list[range] = []
    owners: dict[int, str] = {}
    for index, (tensor, values) in enumerate(zip(inputs, tensors, strict=True)):
        pointer = f"/inputs/{index}"
        columns = model.columns.get(tensor.name)
        if columns is None:
            raise InvalidInput.at(f"{pointer}/name", "not a feature of this model")
        owner = next((owners[column] for column in columns if column in owners), None)
        if owner is not None:
            detail = "two tensors have this name" if owner == tensor.name else f"is also given by {owner!r}"
            raise InvalidInput.at(f"{pointer}/name", detail)
        owners |= dict.fromkeys(columns, tensor.name)
        if values.shape not in _shapes(len(first), len(columns)):
            shape = list(_shapes(len(first), len(columns))[0])
            raise InvalidInput.at(f"{pointer}/shape", f"must be {shape}, to match the first tensor")
        columns_of.append(columns)
    return columns_of


def _shapes(n_documents: int, n_columns: int) -> list[tuple[int, ...]]:
    """Return the valid shapes of a tensor with this many features."""
    matrix = (n_documents, n_columns)
    return [(n_documents,), matrix] if n_columns == _ONE_COLUMN else [matrix]
