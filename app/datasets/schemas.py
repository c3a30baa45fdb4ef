"""Requests and responses of datasets: uploads, findings, queries and hold-outs."""

from datetime import datetime
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError

from app.http.labels import NewProject, ProjectName, ShownProject
from app.http.lists import SelectedFields
from app.http.schemas import (
    DatasetName,
    FailureReason,
    Id,
    Json,
    NextCursor,
    RequestModel,
    ResponseModel,
    optional_text,
)
from core.data.file_patterns import MAX_PATTERN_LENGTH
from core.data.folders import MAX_FOLDER_LENGTH
from core.data.folds import MAX_FOLDS
from core.data.options import reading_options
from core.data.synthetic import GAINS_2006, ISTELLA_X_DOCUMENTS
from core.errors import InputProblem, InvalidInput

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


PartName = Literal["train", "validation", "test"]


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


class Corpus(ResponseModel):
    """Which public corpus a dataset is, by the counts that papers print."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "corpus": "MSLR-WEB30K",
                    "fold": 1,
                    "part": None,
                    "as_printed": True,
                    "sentence": "This is MSLR-WEB30K Fold1 as printed (Wang et al. 2018, table 1).",
                    "sources": ["Wang et al. 2018, table 1"],
                }
            ]
        },
    )

    corpus: str | None = Field(description="Its name; null where the counts are those of none")
    fold: int | None = Field(description="The fold, from 1; null where there are none or it is not known")
    part: PartName | None = Field(
        description="Of a dataset that is one part, and whose other parts are not datasets here"
    )
    as_printed: bool = Field(
        description="Whether the counts are printed; numbers printed for other data are for orientation only"
    )
    sentence: str = Field(description="The answer for people")
    sources: list[str] = Field(description="Where the counts are printed")


Value = float | Literal["Infinity", "-Infinity"] | None


class QueryEntry(ResponseModel):
    """One query of a dataset in a list."""

    query_id: str = Field(examples=["10032"])
    documents: int = Field(description="How many it has", examples=[120])
    relevant: int = Field(description="Documents with a label above 0", examples=[14])
    min_label: float | None = Field(description="Null where no document has a label", examples=[0.0])
    max_label: float | None = Field(examples=[4.0])
    query_text: str | None = optional_text("What the user searched for", "red shoes")
    columns: dict[str, str] = Field(description="What else is known of it", examples=[{"market": "de"}])


class QueryPage(ResponseModel):
    """A page of queries, in the dataset's order."""

    items: list[QueryEntry]
    next_cursor: NextCursor


class JudgedDocument(ResponseModel):
    """A judged document."""

    document_id: str = Field(examples=["GX029-35-5894638"])
    document_title: str | None = optional_text("Its title", "Red running shoe")
    document_url: str | None = optional_text(
        "Its address as uploaded; it may be of any scheme", "https://shop.example/sku-1"
    )
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
    query_text: str | None = optional_text("What the user searched for", "red shoes")
    weight: float | None = Field(description="Its weight, where queries have weights", examples=[None])
    columns: dict[str, str] = Field(description="What else is known of it", examples=[{"market": "de"}])
    total: int = Field(description="How many documents it has", examples=[120])
    offset: int = Field(description="Documents before the first one shown", examples=[0])
    feature_names: list[str] = Field(examples=[["bm25", "pagerank", "clicks"]])
    documents: list[JudgedDocument]


class HeldOutDataset(RequestModel):
    """Validate on another dataset."""

    dataset_id: Id = Field(description="A ready dataset other than the one trained on", examples=["ds_…"])


class NamedDataset(RequestModel):
    """Validate on the newest ready dataset of a name."""

    dataset: DatasetName = Field(examples=["held-out clicks"])


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


class RandomFolds(RequestModel):
    """Hold out each of k parts of equal size of the training dataset's queries once."""

    folds: int = Field(ge=2, le=MAX_FOLDS, description="Parts, k; each is a training", examples=[5])


class FoldColumn(RequestModel):
    """Hold out each value of a column of the training dataset's queries once."""

    fold_column: str = Field(
        max_length=200,
        description=f"A column of the queries with 2 to {MAX_FOLDS} values, one a fold",
        examples=["fold"],
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
    Annotated[HeldOutDataset, Tag("held-out-dataset")]
    | Annotated[RandomFolds, Tag("random-folds")]
    | Annotated[FoldColumn, Tag("fold-column")]
    | _HoldOutForms,
    Discriminator(
        _form(
            {
                "dataset_id": "held-out-dataset",
                "fold": "held-out-fold",
                "fold_column": "fold-column",
                **_HOLD_OUT_FORMS,
                "folds": "random-folds",
            }
        ),
        custom_error_type="validation_form",
        custom_error_message='must be {"dataset_id": "ds_…"}, {"folds": 5}, {"fold_column": "fold"},'
        f" {_HOLD_OUT_MESSAGE}",
    ),
]
NamedValidation = Annotated[
    Annotated[NamedDataset, Tag("named-dataset")]
    | Annotated[RandomFolds, Tag("random-folds")]
    | Annotated[FoldColumn, Tag("fold-column")]
    | _HoldOutForms,
    Discriminator(
        _form(
            {
                "dataset": "named-dataset",
                "fold": "held-out-fold",
                "fold_column": "fold-column",
                **_HOLD_OUT_FORMS,
                "folds": "random-folds",
            }
        ),
        custom_error_type="named_validation_form",
        custom_error_message='must be {"dataset": "name"}, {"folds": 5}, {"fold_column": "fold"},'
        f" {_HOLD_OUT_MESSAGE}",
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


# The whole of Istella-X with 40 features, 4 GiB.
MAX_SYNTHETIC_DOCUMENTS = 27_000_000
MAX_SYNTHETIC_VALUES = 2**30
_N_GAINS = len(GAINS_2006)


class SyntheticDatasetRequest(RequestModel):
    """A dataset drawn from a random cubic polynomial (Burges et al. 2006, section 6.3.1)."""

    name: DatasetName | None = None
    project: NewProject = Field(None, exclude=True)
    queries: int = Field(ge=1, le=MAX_QUERIES, description="How many queries", examples=[1000])
    seed: int = Field(0, ge=0, le=MAX_SEED, description="Seed of the documents and their noise")
    polynomial_seed: int = Field(
        0, ge=0, le=MAX_SEED, description="Seed of the hidden function; share it between train and test sets"
    )
    generator: Literal["polynomial", "sparse"] = Field(
        "polynomial",
        description="`polynomial`: labels in the shares of web search, as in 2006; `sparse`: long lists with"
        " few relevant documents, as Istella-X in 2023",
    )
    documents_per_query: int | None = Field(
        None, ge=1, le=100_000, description="50, or 2,679 of `sparse`, when left out", examples=[50]
    )
    features: int | None = Field(None, ge=1, le=500, description="50 when left out", examples=[50])
    noise: float | None = Field(
        None,
        ge=0,
        le=1000,
        description="Standard deviation of normal noise on the hidden value, in standard deviations of the"
        " polynomial; 0 when left out",
        examples=[0.5],
    )
    gains: list[Annotated[float, Field(ge=0, le=1e6)]] | None = Field(
        None,
        min_length=_N_GAINS,
        max_length=_N_GAINS,
        description="Increasing numbers that replace the labels 0 to 4, for losses and metrics with a linear"
        " gain. To keep the labels, leave it out and pass the list as the gain of losses and metrics",
        examples=[list(GAINS_2006)],
    )
    relevant_per_query: float | None = Field(
        None,
        ge=1,
        le=100_000,
        description="Documents of each query with a label above 0, of `sparse` only; a fraction is the"
        " probability of one more. 0.17% of the documents when left out. Lambda-eX and the truncation of"
        " other losses differ only where it is above the cutoff",
        examples=[20],
    )

    def source(self) -> dict[str, Any]:
        """Return the source to store; the default of a later parameter is left out, as before it existed.

        Raises:
            InvalidInput: The parameters contradict each other, or ask for too much data.
        """
        sparse = self.generator == "sparse"
        documents = self.documents_per_query or (ISTELLA_X_DOCUMENTS if sparse else 50)
        problems = []
        if self.relevant_per_query is not None and not sparse:
            problems.append(InputProblem("/relevant_per_query", "goes with the generator sparse"))
        elif self.relevant_per_query is not None and self.relevant_per_query > documents:
            problems.append(
                InputProblem("/relevant_per_query", f"must be at most the {documents:,} documents")
            )
        if self.gains is not None and any(low >= high for low, high in pairwise(self.gains)):
            problems.append(InputProblem("/gains", "must increase"))
        total = self.queries * documents
        if total > MAX_SYNTHETIC_DOCUMENTS or total * (self.features or 50) > MAX_SYNTHETIC_VALUES:
            problems.append(
                InputProblem(
                    "/queries",
                    f"these are {total:,} documents; at most {MAX_SYNTHETIC_DOCUMENTS:,} are made, with"
                    f" {MAX_SYNTHETIC_VALUES:,} values of features",
                )
            )
        if problems:
            raise InvalidInput(*problems)
        chosen = self.model_dump(exclude={"name"}, exclude_none=True)
        if not sparse:
            del chosen["generator"]
        return {"kind": "synthetic", **chosen}


class FolderDatasetRequest(RequestModel):
    """A folder below `RANKERY_DATA_ROOTS` whose judged files become datasets, or one dataset by `files`."""

    folder: str = Field(
        min_length=1,
        max_length=MAX_FOLDER_LENGTH,
        description="Its path below a root, or an absolute one in it; Yahoo's sets are `…/set1` and `…/set2`."
        " With `files` also a folder of a bucket, `s3://bucket/prefix`",
        examples=["MSLR-WEB30K/Fold1"],
    )
    part: PartName | None = Field(None, description="Only this part; all that there are when left out")
    name: DatasetName | None = Field(
        None,
        description="For people; followed by the part where there are several. The folder when left out",
        examples=["web30k fold 1"],
    )
    project: NewProject = None
    files: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_PATTERN_LENGTH,
        description="Pattern of the names of up to 1,000 files that become one dataset, in natural order:"
        " LETOR text, or tables of the same columns. A query may have rows in several files",
        examples=["part-*.parquet"],
    )
    format: Literal["auto", "letor", "csv", "parquet"] | None = Field(
        None, description="Format of `files`; told by the content when left out"
    )
    non_contiguous_queries: Literal["regroup", "error"] | None = Field(
        None, description="Whether a query of `files` whose rows do not stand together is gathered or refused"
    )
    repeated_features: Literal["last", "reject"] | None = Field(
        None, description="Whether a feature that comes twice in a LETOR row counts with its last value"
    )
    columns: dict[str, str | list[str]] | None = Field(
        None,
        max_length=20,
        description="The columns of tables by role, as in an upload",
        examples=[{"label": "grade", "query": "search"}],
    )
    feature_names: dict[str, str] | list[str] | None = Field(
        None, description="Names by feature id or column, or a list of them", examples=[{"1": "bm25"}]
    )

    def options(self) -> dict[str, Any]:
        """Return how the files are to be read, as JSON, the format aside.

        Raises:
            InvalidInput: The options contradict each other, or go with no `files`.
        """
        names = ("non_contiguous_queries", "repeated_features", "columns", "feature_names")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        if self.files is None:
            alone = [*given, *(["format"] if self.format is not None else [])]
            problems = [InputProblem(f"/{name}", "goes with files, which is missing") for name in alone]
        else:
            problems = [InputProblem("/part", "goes with a folder without files")] if self.part else []
        if problems:
            raise InvalidInput(*problems)
        reading_options(given)
        return given


class FolderPart(ResponseModel):
    """A file of a folder that is the training, validation or test part."""

    file: str = Field(description="Its name", examples=["train.txt"])
    size_bytes: int = Field(description="Its size", examples=[3_611_842_816])


class DataFolder(ResponseModel):
    """A folder below `RANKERY_DATA_ROOTS`."""

    folder: str = Field(description="Its path below a root", examples=["MSLR-WEB30K/Fold1"])
    parts: dict[str, FolderPart] = Field(
        description="Its judged files by `train`, `validation` and `test`, recognised by their names"
    )
    folders: list[str] = Field(description="Names of the folders in it", examples=[["Fold1", "Fold2"]])


class ReadAgainRequest(RequestModel):
    """Read the upload of an invalid dataset again."""

    ignore: list[Annotated[str, Field(min_length=1, max_length=1000)]] = Field(
        min_length=1,
        max_length=1000,
        description="Columns to leave out, beside those that the upload named",
        examples=[["price"]],
    )


TrainingPart = Literal["test", "validation", "train"]


class DatasetFit(ResponseModel):
    """Whether systems can be measured on a dataset."""

    fits: bool = Field(description="Whether a job that measures them on it can succeed")
    reason: str | None = Field(
        description="Why not; null where it fits",
        examples=["lacks 90 of the 136 features that web:3 uses (f47, f48, f49, …); it has 46"],
    )
    absent_features: list[str] = Field(
        description="Features that a model uses and the dataset lacks; up to half of them are allowed",
        examples=[["f47", "f48"]],
    )
    part: TrainingPart | None = Field(
        description="What it was in the training of a model, `test` before the others; `test` where a ranking"
        " is of its queries; null where it was nothing"
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
                    "project": "web",
                    "created_at": "2026-01-05T09:30:00Z",
                    "updated_at": "2026-01-05T09:30:41Z",
                    "fit": None,
                }
            ]
        },
    )

    id: str
    name: str
    status: Literal["pending", "ready", "invalid"] = Field(
        description="`pending` while it is read, then `ready`, or `invalid` with a `problem`"
    )
    source: Json = Field(
        description="`kind` is `upload`, `folder`, `address` or `synthetic`; the rest says which"
    )
    job_id: str | None = Field(description="The job that reads it")
    size_bytes: int | None = Field(description="Length of the file")
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
    project: ShownProject
    created_at: datetime
    updated_at: datetime
    fit: DatasetFit | None = Field(
        None, description="Whether the systems of `for` can be measured on it; null without `for`"
    )


DefaultDataset = Annotated[
    str | None,
    Field(
        description="The dataset that most systems of `for` were tested on, wherever it stands in the list;"
        " null where there is none, or where they do not fit it"
    ),
]


class DatasetPage(ResponseModel):
    """A page of datasets, newest first by default."""

    items: list[Dataset]
    next_cursor: NextCursor
    default_id: DefaultDataset = None


class SelectedDatasets(SelectedFields):
    """A page of datasets with the fields that were asked for."""

    default_id: DefaultDataset = None


DatasetColumn = Literal["created", "name", "status", "size", "queries", "documents", "features"]


class DatasetChanges(RequestModel):
    """Changes of a dataset's name and project; omitted fields stay."""

    name: DatasetName | None = Field(None, examples=["web30k fold 1"])
    project: ProjectName | None = Field(None, description="Null for none", examples=["web"])


class DatasetSelection(RequestModel):
    """The datasets that a request is about."""

    ids: list[Id] = Field(
        min_length=1, max_length=200, description="Ids of datasets", examples=[["ds_01k9x2m4q7c8v5n3b6r1"]]
    )


class DeletedDataset(ResponseModel):
    """What a request to delete did to one dataset."""

    id: str = Field(examples=["ds_01k9x2m4q7c8v5n3b6r1"])
    outcome: Literal["deleted", "in_use", "missing"] = Field(
        description="`in_use` where a job or the gate of an alias needs it, so that it stays"
    )
    detail: str | None = Field(None, description="What uses it; null otherwise", examples=[None])


class DeletedDatasets(ResponseModel):
    """What a request to delete did to each of several datasets."""

    items: list[DeletedDataset] = Field(description="In the order in which they were named")


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
