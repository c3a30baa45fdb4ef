"""Parse Open Inference Protocol requests, version 2, except for their tensor data.

https://github.com/kserve/open-inference-protocol
"""

from json import JSONDecodeError
from typing import Annotated, Any

from pydantic import ConfigDict, Field, ValidationError

from app.http.bodies import parse_json
from app.http.pointers import body_errors, input_problems
from app.http.schemas import RequestModel
from core.errors import InvalidInput
from core.json_values import MAX_ARRAYS, read_arrays
from core.types import Float64Array

_DATA = "data"
_MAX_OUTPUTS = 100
# Limit of arrays and objects in the JSON without the tensors' numbers, which are parsed separately.
_FAST_CONTAINERS = 10 * MAX_ARRAYS

Size = Annotated[int, Field(ge=0, lt=2**31)]


class Parameters(RequestModel):
    """Parameters of a request or a tensor; unknown ones are ignored."""

    model_config = ConfigDict(extra="ignore")

    binary_data_size: Size | None = None
    binary_data: bool | None = None
    binary_data_output: bool | None = None


class InputTensor(RequestModel):
    """An input tensor."""

    name: str = Field(max_length=1024)
    shape: list[Size] = Field(min_length=1, max_length=2)
    datatype: str = Field(max_length=16)
    parameters: Parameters = Field(default_factory=Parameters)
    data: list[Any] | None = None

    @property
    def has_data(self) -> bool:
        """Whether the tensor has a member `data`, even null."""
        return _DATA in self.model_fields_set


class RequestedOutput(RequestModel):
    """A requested output."""

    name: str = Field(max_length=1024)
    parameters: Parameters = Field(default_factory=Parameters)


class InferenceHead(RequestModel):
    """An inference request without its tensor data."""

    id: str | None = Field(None, max_length=1024)
    parameters: Parameters = Field(default_factory=Parameters)
    inputs: list[InputTensor] = Field(min_length=1)
    outputs: list[RequestedOutput] | None = Field(None, max_length=_MAX_OUTPUTS)

    @property
    def wants_binary(self) -> bool:
        """Whether the response should be binary."""
        for output in self.outputs or ():
            if output.parameters.binary_data is not None:
                return output.parameters.binary_data
        return bool(self.parameters.binary_data_output)


def fast_head(text: bytes, max_inputs: int) -> tuple[InferenceHead, list[Float64Array]] | None:
    """Parse a request in the common form: the fast path.

    Returns:
        The head, and the numbers of the tensors that have `data`, in order; None for invalid or unusual text,
        which `slow_head` parses.
    """
    extracted = read_arrays(text, _DATA)
    if extracted is None:
        return None
    try:
        head = _validated(parse_json(extracted.rest, _FAST_CONTAINERS), max_inputs)
    except (JSONDecodeError, InvalidInput, ValidationError):
        return None
    if sum(tensor.has_data for tensor in head.inputs) != len(extracted.arrays):
        return None  # a tensor repeats the member `data`, or a `data` is outside of the tensors
    return head, extracted.arrays


def slow_head(text: bytes, max_inputs: int, max_containers: int) -> InferenceHead:
    """Parse any request: the slow path. Tensor values are in `data`.

    Args:
        max_containers: Limit of arrays and objects.

    Raises:
        InvalidInput: The text is not JSON, or not a valid request.
    """
    try:
        parsed = parse_json(text, max_containers)
        return _validated(parsed, max_inputs)
    except JSONDecodeError as error:
        raise InvalidInput.at("", f"is not JSON: {error.msg}") from error
    except ValidationError as error:
        raise InvalidInput(*input_problems(body_errors(error), parsed)) from error


def _validated(parsed: Any, max_inputs: int) -> InferenceHead:
    inputs = parsed.get("inputs") if isinstance(parsed, dict) else None
    if isinstance(inputs, list) and len(inputs) > max_inputs:
        raise InvalidInput.at(
            "/inputs", f"must have at most {max_inputs} tensors, one for each feature of the model"
        )
    return InferenceHead.model_validate(parsed)
