"""Responses with datasets and findings, and the request to change a dataset."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from app.http.labels import ProjectName, ShownProject
from app.http.lists import SelectedFields
from app.http.pointers import name_problem
from app.http.schemas import (
    DisplayName,
    FailureReason,
    Json,
    PageModel,
    RequestModel,
    ResponseModel,
    example,
)
from core.errors import InvalidInput
from core.outbound.guard import MAX_URL_LENGTH
from core.store import ClickLog as ClickLogRow
from core.store import Dataset as DatasetRow
from core.store import Transaction
from core.store.repositories.datasets import DataStatus
from core.store.sources.credentials import NAME_PATTERN

_EXAMPLE: dict[str, Any] = {
    "code": "one-label-queries",
    "severity": "info",
    "title": "1,204 of 18,919 queries have documents with a single label",
    "advice": "Such queries prefer no document to another, and most losses learn nothing from them. You"
    " may keep them.",
    "count": 1204,
    "total": 18_919,
    "unit": "queries",
    "examples": ["10032", "10047"],
    "example_kind": "query",
}


MAX_BASE_NAME_LENGTH = 180  # of a default name, before a part is appended
PartName = Literal["train", "validation", "test"]

# Fields of requests that read a dataset.
OPTION_NAMES = frozenset({"non_contiguous_queries", "repeated_features", "columns", "feature_names"})
SourceUrl = Annotated[str, Field(min_length=1, max_length=MAX_URL_LENGTH)]
SPLIT_QUERIES = "Non-contiguous rows of a query: `regroup` groups them, `error` refuses them"
REPEATED_FEATURES = "Repeated features in a LETOR row: `last` uses the last value, `reject` refuses the row"
RepeatedFeatures = Annotated[Literal["last", "reject"] | None, Field(description=REPEATED_FEATURES)]
ColumnRoles = Annotated[
    dict[str, str | list[str]] | None,
    Field(
        max_length=20,
        description="Column names by role, as in an upload of a table",
        examples=[{"label": "grade", "query": "search"}],
    ),
]
FeatureNames = Annotated[
    dict[str, str] | list[str] | None,
    Field(description="Feature names by feature id or column, or as a list", examples=[{"1": "bm25"}]),
]
CredentialsName = Annotated[
    str | None,
    Field(
        pattern=NAME_PATTERN,
        description="Name of the credentials for the download, which are configured on the workers",
        examples=["warehouse"],
    ),
]
# Fields of results on a dataset.
DatasetName = Annotated[
    str | None,
    Field(description="Name of the dataset; null if it was deleted", examples=["web30k fold 1"]),
]


class Finding(ResponseModel):
    """One finding about a dataset, a pair of datasets, or a training."""

    model_config = example(_EXAMPLE)

    code: str = Field(description="Stable identifier of the kind of finding")
    severity: Literal["error", "warning", "info"] = Field(
        description="`error`: no model can be trained; `warning`: check before training; `info`: worth"
        " knowing"
    )
    title: str = Field(description="Summary of the finding in one sentence, with counts")
    advice: str = Field(description="Recommended action")
    count: int = Field(description="Number of affected items")
    total: int = Field(description="Number of checked items")
    unit: str = Field(description="Kind of the counted items, such as queries, documents or features")
    examples: list[str] = Field(description="Up to ten affected items")
    example_kind: Literal["query", "feature", "document", "pair", "action", "user"] = Field(
        description="Kind of the items in `examples`; a `pair` consists of a query and a document, a `user`"
        " is a number"
    )
    role: PartName | None = Field(
        None,
        description="Role of the dataset that the items in `examples` belong to; null if the finding is not"
        " about one dataset of a job",
    )


ModelFindings = Annotated[
    list[Finding] | None,
    Field(description="Findings about the model on this dataset; null without findings"),
]


class DatasetFit(ResponseModel):
    """The result of checking whether systems can be measured on a dataset."""

    fits: bool = Field(description="Whether the systems can be evaluated on the dataset")
    reason: str | None = Field(
        description="Why the systems cannot be evaluated on the dataset; null if they can",
        examples=["lacks 90 of the 136 features that web:3 uses (f47, f48, f49, …); it has 46"],
    )
    absent_features: list[str] = Field(
        description="Features that a model uses and the dataset lacks; at most half of the used features"
        " may be absent",
        examples=[["f47", "f48"]],
    )
    part: PartName | None = Field(
        description="Role of the dataset in the training of a model; `test` for the dataset of a ranking;"
        " null without a role"
    )


class Dataset(ResponseModel):
    """A judged dataset: queries, their documents, features and labels."""

    model_config = example(
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
            "project": "web",
            "created_at": "2026-01-05T09:30:00Z",
            "updated_at": "2026-01-05T09:30:41Z",
            "fit": None,
        }
    )

    id: str
    name: str
    status: DataStatus = Field(
        description="`pending` while the dataset is read, then `ready`, or `invalid` with a `problem`"
    )
    source: Json = Field(
        description="`kind` is `upload`, `folder`, `address`, `synthetic` or `clicks`, with its parameters"
    )
    job_id: str | None = Field(description="Job that reads or creates the dataset")
    size_bytes: int | None = Field(description="Size of the file in bytes, with its file of query sizes")
    sha256: str | None = Field(description="Digest of an uploaded file, else null")
    digest: str | None = Field(description="Digest of the dataset's content; equal contents are stored once")
    parts: dict[str, str] | None = Field(
        description="Ids of all datasets of the same upload by part, including this dataset"
    )
    statistics: dict[str, Any] | None = Field(
        description="Counts of queries, documents, features and labels; documents per query; values of"
        " columns"
    )
    findings: list[Finding] | None = Field(
        description="Findings of the data checks, errors first; null until the dataset is ready"
    )
    problem: FailureReason | None = Field(
        description="Why the dataset is invalid; `errors` lists up to 100 errors by file, line, column and"
        " text"
    )
    project: ShownProject
    created_at: datetime
    updated_at: datetime
    fit: DatasetFit | None = Field(
        None,
        description="Whether the systems in the query parameter `for` can be evaluated on the dataset; null"
        " without `for`",
    )


DefaultDataset = Annotated[
    str | None,
    Field(
        description="Most common test dataset of the systems in the query parameter `for`, on which all of"
        " them can be evaluated; null if there is none"
    ),
]


class DatasetPage(PageModel):
    """A page of datasets, newest first by default."""

    items: list[Dataset]
    default_id: DefaultDataset = None


class SelectedDatasets(SelectedFields):
    """A page of datasets with the requested fields."""

    default_id: DefaultDataset = None


class DatasetChanges(RequestModel):
    """Changes of a dataset's name and project; omitted fields stay."""

    name: DisplayName | None = Field(None, examples=["web30k fold 1"])
    project: ProjectName | None = Field(
        None, description="Name of a project; null for no project", examples=["web"]
    )

    def apply(self, tx: Transaction, row: DatasetRow | ClickLogRow) -> None:
        """Change the row of a dataset or a click log.

        Raises:
            InvalidInput: The name is null, or the project is refused.
        """
        if "name" in self.model_fields_set and self.name is None:
            raise InvalidInput.at("/name", "must not be null")
        row.name = self.name or row.name
        if "project" in self.model_fields_set:
            tx.projects.move_data(row, self.project)


_NAME: TypeAdapter[str] = TypeAdapter(DisplayName)


def checked_name(name: str) -> str:
    """Validate the name of a dataset or a click log from an upload.

    Raises:
        InvalidInput: The name is empty, too long or has control characters.
    """
    try:
        return _NAME.validate_python(name)
    except ValidationError as error:
        raise name_problem(error) from error
