"""Requests and answers of the Open Inference Protocol, version 2."""

from http import HTTPStatus
from typing import Any

from pydantic import Field

from app.http.openapi import problems
from app.http.schemas import ResponseModel
from app.scoring.tensors import BYTES, DATATYPES


class ServerMetadata(ResponseModel):
    """The server metadata."""

    name: str = Field(examples=["rankery"])
    version: str = Field(examples=["0.1.0"])
    extensions: list[str] = Field(examples=[["binary_tensor_data"]])


class Live(ResponseModel):
    """The process is alive."""

    live: bool = Field(examples=[True])


class ServerReady(ResponseModel):
    """Every part of the service that scoring needs works."""

    ready: bool = Field(examples=[True])


class ModelReady(ResponseModel):
    """The model is in memory."""

    name: str = Field(examples=["web"])
    ready: bool = Field(examples=[True])


class Tensor(ResponseModel):
    """The name, type and shape of an input or output tensor."""

    name: str = Field(examples=["features"])
    datatype: str = Field(examples=["FP32"])
    shape: list[int] = Field(description="Shape of the tensor; -1 is any number", examples=[[-1, 136]])


class ModelMetadata(ResponseModel):
    """The input and output tensors of a model."""

    name: str = Field(examples=["web"])
    versions: list[str] = Field(examples=[["3"]])
    platform: str = Field(
        description="`rankery_forest`, `rankery_network` (also of linear scorers) or `rankery_sum`",
        examples=["rankery_forest"],
    )
    inputs: list[Tensor]
    outputs: list[Tensor]


class OutputTensor(ResponseModel):
    """An output tensor with scores."""

    name: str = Field(examples=["predict"])
    shape: list[int] = Field(examples=[[2]])
    datatype: str = Field(examples=["FP64"])
    data: list[float] | None = Field(None, examples=[[2.31, -0.4]])
    parameters: dict[str, Any] | None = Field(
        None, description="`binary_data_size`, if the scores follow the JSON as bytes"
    )


class InferenceAnswer(ResponseModel):
    """Scores in the order of the documents."""

    model_name: str = Field(examples=["web"])
    model_version: str = Field(examples=["3"])
    id: str | None = Field(None, description="Id of the request")
    outputs: list[OutputTensor]


_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "description": "Parameters of the binary data extension; others are ignored",
}
_REQUEST_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["inputs"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "maxLength": 1024},
        "parameters": _PARAMETERS,
        "inputs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name", "shape", "datatype"],
                "additionalProperties": False,
                "anyOf": [{"required": ["data"]}, {"required": ["parameters"]}],
                "properties": {
                    "name": {
                        "type": "string",
                        "description": "Name of the feature; any name for a single tensor of all features",
                    },
                    "shape": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": 2,
                        "items": {"type": "integer", "minimum": 0},
                    },
                    "datatype": {
                        "type": "string",
                        "enum": [*DATATYPES, BYTES],
                        "description": "FP32, FP64 or another numeric type; BYTES for texts of a category."
                        " FP64 values are not rounded to FP32.",
                    },
                    "data": {
                        "type": "array",
                        "description": "Values row by row, flat or nested; null is a missing value",
                        "items": {},
                    },
                    "parameters": _PARAMETERS,
                },
            },
        },
        "outputs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {"name": {"const": "predict"}, "parameters": _PARAMETERS},
            },
        },
    },
}
REQUEST_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "application/json": {
            "schema": _REQUEST_SCHEMA,
            "examples": {
                "matrix": {
                    "summary": "One tensor of all features",
                    "value": {
                        "inputs": [
                            {
                                "name": "features",
                                "shape": [2, 2],
                                "datatype": "FP32",
                                "data": [12.5, 0.3, 9.1, None],
                            }
                        ]
                    },
                },
                "columns": {
                    "summary": "One tensor per feature",
                    "value": {
                        "inputs": [
                            {"name": "bm25", "shape": [2], "datatype": "FP32", "data": [12.5, 9.1]},
                            {"name": "pagerank", "shape": [2], "datatype": "FP64", "data": [0.3, None]},
                        ]
                    },
                },
            },
        },
        "application/octet-stream": {
            "schema": {
                "type": "string",
                "format": "binary",
                "description": "JSON of the length in the header, then the tensors' bytes, little-endian",
            }
        },
    },
}
ANSWER_EXAMPLE: dict[str, Any] = {
    "content": {
        "application/octet-stream": {
            "schema": {
                "type": "string",
                "format": "binary",
                "description": "If scores were requested as bytes: JSON with the length in the header "
                "`Inference-Header-Content-Length`, then the scores",
            }
        }
    }
}


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the error responses of an operation."""
    schema = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
    content = {"application/json": {"schema": schema, "example": {"error": "there is no model 'web'"}}}
    anywhere = problems()
    return anywhere | {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {**anywhere.get(status, {}).get("content", {}), **content},
        }
        for status in statuses
    }
