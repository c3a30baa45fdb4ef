"""Requests and responses of datasets: uploads, findings, queries and hold-outs."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError

from app.http.schemas import DatasetName, FailureReason, Id, Json, NextCursor, RequestModel, ResponseModel
from core.errors import InvalidInput

_EXAMPLE: dict[str, Any] = {
    "code": "one-label-queries",
    "severity": "info",
    "title": "1,204 of 18,919 queries have documents of one label only",
    "advice": "They teach a ranker nothing and may be left out.",
    "count": 1204,
    "total": 18_919,
    "unit": "queries",
    "examples": ["10032", "10047"],
    "example_kind": "query",
}


class Finding(ResponseModel):
    """One finding about a dataset, a pair of datasets, or a training."""

    model_config = ConfigDict(from_attributes=True, json_schema_extra={"examples": [_EXAMPLE]})

    code: str = Field(description="What it is, in a word that stays the same")
    severity: Literal["error", "warning", "info"] = Field(
        description="`error`: nothing can be learnt; `warning`: look before training; `info`: good to know"
    )
    title: str = Field(description="One sentence with the numbers")
    advice: str = Field(description="What to do")
    count: int = Field(description="How many are concerned")
    total: int = Field(description="Of how many")
    unit: str = Field(description="What is counted, such as queries, documents or features")
    examples: list[str] = Field(description="Up to ten of those concerned")
    example_kind: Literal["query", "feature", "document"] = Field(description="What the examples name")
    role: Literal["validation", "test"] | None = Field(
        None,
        description="Of a job's data, what was looked at beside the training data; queries named are its",
    )


class FeatureProfile(ResponseModel):
    """The distribution of a feature's values."""

    name: str = Field(examples=["bm25"])
    minimum: float | None = Field(description="The smallest finite value", examples=[0.0])
    maximum: float | None = Field(description="The largest finite value", examples=[31.4])
    mean: float | None = Field(description="Mean of the finite values", examples=[7.9])
    missing: int = Field(description="Documents without a value", examples=[12])
    infinite: int = Field(description="Documents whose value is infinite", examples=[0])
    zeros: float = Field(description="Share of documents whose value is 0", examples=[0.25])
    constant: bool = Field(description="All documents have the same value", examples=[False])
    constant_in_queries: bool = Field(
        description="In every query all documents have the same value: useless to rank by", examples=[False]
    )
    ndcg_at_10: float | None = Field(
        description="NDCG@10 of ranking by this feature alone, on a sample of queries", examples=[0.41]
    )
    direction: str = Field(
        description="Whether it ranks better `descending` or `ascending`", examples=["descending"]
    )


class FeatureProfiles(ResponseModel):
    """All features of a dataset, in their order."""

    items: list[FeatureProfile]


Value = float | Literal["Infinity", "-Infinity"] | None


class QueryEntry(ResponseModel):
    """One query of a dataset in a list."""

    query_id: str = Field(examples=["10032"])
    documents: int = Field(description="How many it has", examples=[120])
    relevant: int = Field(description="Documents with a label above 0", examples=[14])
    min_label: float | None = Field(description="Null where no document has a label", examples=[0.0])
    max_label: float | None = Field(examples=[4.0])
    columns: dict[str, str] = Field(description="What else is known of it", examples=[{"market": "de"}])


class QueryPage(ResponseModel):
    """A page of queries, in the dataset's order."""

    items: list[QueryEntry]
    next_cursor: NextCursor


class JudgedDocument(ResponseModel):
    """A judged document."""

    document_id: str = Field(examples=["GX029-35-5894638"])
    label: float | None = Field(description="Null where it was not judged", examples=[2.0])
    weight: float | None = Field(None, description="Its weight, where documents have weights", examples=[1.0])
    columns: dict[str, str] = Field(
        default_factory=dict,
        description="What else is known of it, from the comments of LETOR text",
        examples=[{"inc": "1", "prob": "0.0246906"}],
    )
    features: list[Value] = Field(
        description="In the order of `feature_names`; null is missing, infinities are text",
        examples=[[12.5, 0.3, None]],
    )


class JudgedQuery(ResponseModel):
    """A query with some of its documents."""

    query_id: str = Field(examples=["10032"])
    weight: float | None = Field(description="Its weight, where queries have weights", examples=[None])
    columns: dict[str, str] = Field(description="What else is known of it", examples=[{"market": "de"}])
    total: int = Field(description="How many documents it has", examples=[120])
    offset: int = Field(description="Documents before the first one shown", examples=[0])
    feature_names: list[str] = Field(examples=[["bm25", "pagerank", "clicks"]])
    documents: list[JudgedDocument]


class HeldOutDataset(RequestModel):
    """Validate on another dataset."""

    dataset_id: Id = Field(description="A ready dataset other than the one trained on", examples=["ds_…"])


class HeldOutFraction(RequestModel):
    """Hold out a share of the training dataset's queries."""

    fraction: float = Field(gt=0, lt=1, description="Share of the queries to hold out", examples=[0.2])


class HeldOutFold(RequestModel):
    """Hold out one of k parts of equal size of the training dataset's queries."""

    folds: int = Field(ge=2, le=10_000, description="Parts, k", examples=[5])
    fold: int = Field(ge=1, le=10_000, description="The part held out, from 1", examples=[1])


class HeldOutColumn(RequestModel):
    """Hold out the queries with certain values in a column of the training dataset."""

    column: str = Field(max_length=200, description="A column of the queries", examples=["split"])
    values: list[Annotated[str, Field(max_length=1000)]] = Field(
        min_length=1, max_length=1000, description="Values of the queries held out", examples=[["test"]]
    )


HoldOutRequest = HeldOutFraction | HeldOutFold | HeldOutColumn
_HOLD_OUT_FORMS = {"fraction": "held-out-fraction", "folds": "held-out-fold", "column": "held-out-column"}


def _form(forms: dict[str, str]) -> Any:
    def discriminate(value: Any) -> str | None:
        for name, form in forms.items():
            if (isinstance(value, dict) and name in value) or hasattr(value, name):
                return form
        return None

    return discriminate


_HoldOutForms = (
    Annotated[HeldOutFraction, Tag("held-out-fraction")]
    | Annotated[HeldOutFold, Tag("held-out-fold")]
    | Annotated[HeldOutColumn, Tag("held-out-column")]
)
_HOLD_OUT_MESSAGE = '{"fraction": 0.2}, {"folds": 5, "fold": 1} or {"column": "split", "values": ["test"]}'
HoldOut = Annotated[
    _HoldOutForms,
    Discriminator(
        _form(_HOLD_OUT_FORMS),
        custom_error_type="hold_out_form",
        custom_error_message=f"must be {_HOLD_OUT_MESSAGE}",
    ),
]
Validation = Annotated[
    Annotated[HeldOutDataset, Tag("held-out-dataset")] | _HoldOutForms,
    Discriminator(
        _form({"dataset_id": "held-out-dataset", **_HOLD_OUT_FORMS}),
        custom_error_type="validation_form",
        custom_error_message=f'must be {{"dataset_id": "ds_…"}}, {_HOLD_OUT_MESSAGE}',
    ),
]
LabelMap = Annotated[
    dict[str, float],
    Field(
        max_length=1000,
        description="Labels to replace, as text (`nan` is none), and what by",
        examples=[{"-1": 0, "nan": 0}],
    ),
]


MAX_QUERIES = 200_000
# Any signed 64-bit integer seeds a generator; negative ones have no meaning there.
MAX_SEED = 2**63 - 1


class SyntheticDatasetRequest(RequestModel):
    """A dataset drawn from a random cubic polynomial (Burges et al. 2006, section 5)."""

    name: DatasetName | None = None
    queries: int = Field(ge=1, le=MAX_QUERIES, description="How many queries", examples=[1000])
    seed: int = Field(0, ge=0, le=MAX_SEED, description="Seed of the documents and their noise")
    polynomial_seed: int = Field(
        0, ge=0, le=MAX_SEED, description="Seed of the hidden function; share it between train and test sets"
    )


class Dataset(ResponseModel):
    """A judged dataset: queries, their documents, features and labels."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "ds_01k9x2m4q7c8v5n3b6r1",
                    "name": "web30k fold 1",
                    "status": "ready",
                    "source": {"kind": "upload", "filename": "train.txt.gz", "format": "letor"},
                    "job_id": "job_01k9x2m4q7c8v5n3b6r2",
                    "size_bytes": 123_456_789,
                    "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                    "digest": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
                    "parts": None,
                    "statistics": {"queries": 18_919, "documents": 2_270_296, "features": 136},
                    "findings": [],
                    "problem": None,
                    "created_at": "2026-01-05T09:30:00Z",
                    "updated_at": "2026-01-05T09:30:41Z",
                }
            ]
        },
    )

    id: str
    name: str
    status: Literal["pending", "ready", "invalid"] = Field(
        description="`pending` while it is read, then `ready`, or `invalid` with a `problem`"
    )
    source: Json = Field(description="`kind` is `upload` or `synthetic`; the rest says which")
    job_id: str | None = Field(description="The job that reads it")
    size_bytes: int | None = Field(description="Length of the uploaded file")
    sha256: str | None = Field(description="Digest of the uploaded file")
    digest: str | None = Field(
        description="Digest of all that decides its content; equal contents are stored once"
    )
    parts: dict[str, str] | None = Field(description="Datasets of one upload, this one among them")
    statistics: dict[str, Any] | None = Field(
        description="Counts of queries, documents, features and labels; documents a query; values of columns"
    )
    findings: list[Finding] | None = Field(description="What the doctor says, errors first; null until ready")
    problem: FailureReason | None = Field(
        description="Why it is invalid; `errors` has up to 100 mistakes by file, line, column and text"
    )
    created_at: datetime
    updated_at: datetime


class DatasetPage(ResponseModel):
    """A page of datasets, newest first."""

    items: list[Dataset]
    next_cursor: NextCursor


_NAME: TypeAdapter[str] = TypeAdapter(DatasetName)


def dataset_name(name: str) -> str:
    """Validate a dataset name from an upload.

    Raises:
        InvalidInput: It is empty, too long or holds control characters.
    """
    try:
        return _NAME.validate_python(name)
    except ValidationError as error:
        raise InvalidInput.at("/name", error.errors()[0]["msg"]) from error
