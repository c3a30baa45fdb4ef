"""Requests and responses of papers and experiments."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from app.http.labels import NewProject, ShownProject
from app.http.schemas import FailureReason, Id, Json, NextCursor, RequestModel, ResponseModel
from app.jobs.distribution_schemas import UndistributedRequest

Scale = Literal["quick", "paper"]
Status = Literal["preparing", "running", "reporting", "succeeded", "failed", "cancelled"]
_NAME = r"^[a-z0-9][a-z0-9-]*$"
PaperName = Annotated[str, Field(max_length=64, pattern=_NAME, examples=["lambdaloss-2018"])]
_TableName = Annotated[str, Field(max_length=64, pattern=_NAME)]
_Fold = Annotated[int, Field(ge=1, le=99)]


class ExperimentDatasets(RequestModel):
    """Ready datasets of one split."""

    train: Id = Field(examples=["ds_01k9x2m4q7c8v5n3b6r1"])
    validation: Id = Field(examples=["ds_01k9x2m4q7c8v5n3b6r2"])
    test: Id = Field(examples=["ds_01k9x2m4q7c8v5n3b6r3"])


class ExperimentRequest(UndistributedRequest):
    """Tables of a paper to train and measure again."""

    paper: PaperName = Field(description="As `GET /v1/papers` lists them")
    tables: list[_TableName] | None = Field(
        None,
        min_length=1,
        max_length=20,
        description="Names of tables; all when null",
        examples=[["table-4"]],
    )
    scale: Scale = Field(
        "quick",
        description="`paper` for the paper's protocol; `quick` for fewer trees, epochs and grid points",
    )
    data: str | None = Field(
        None,
        min_length=1,
        max_length=1000,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="`synthetic`, `sparse`, or a folder below the data roots; null: drawn data chosen for"
        " the paper",
        examples=[None],  # with `dataset_ids` it is left out
    )
    dataset_ids: ExperimentDatasets | None = Field(None, description="Instead of `data`")
    folds: list[_Fold] | None = Field(
        None,
        min_length=1,
        max_length=20,
        description="Numbers of the folders `Fold1`, `Fold2`, … of the folder; the folder itself when null",
        examples=[None],
    )
    dry_run: bool = Field(
        False,
        description="Train five trees or epochs of each loss alone, and estimate the time of everything",
    )
    project: NewProject = None


REQUEST_EXAMPLES: dict[str, Any] = {
    "quick": {
        "summary": "A table on drawn data",
        "value": {"paper": "lambda-ex-2023", "tables": ["table-5"], "data": "sparse", "scale": "quick"},
    },
    "datasets": {
        "summary": "How long would all tables take on these datasets?",
        "value": {
            "paper": "lambda-ex-2023",
            "dataset_ids": {
                "train": "ds_01k9x2m4q7c8v5n3b6r1",
                "validation": "ds_01k9x2m4q7c8v5n3b6r2",
                "test": "ds_01k9x2m4q7c8v5n3b6r3",
            },
            "scale": "paper",
            "dry_run": True,
        },
    },
}


class PaperTableEntry(ResponseModel):
    """A table or figure of a paper in a list."""

    name: str = Field(examples=["table-4"])
    caption: str


class PaperEntry(ResponseModel):
    """A paper in a list."""

    name: str = Field(examples=["lambdaloss-2018"])
    title: str
    authors: str
    year: int = Field(examples=[2018])
    data: Literal["synthetic", "sparse"] = Field(description="The drawn data of its experiments")
    tables: list[PaperTableEntry]


class PaperList(ResponseModel):
    """All papers, oldest first."""

    items: list[PaperEntry]


class PaperMethod(ResponseModel):
    """A row of a table and the method that is trained for it."""

    row: str = Field(examples=["LambdaMART"])
    loss: Json | None = Field(
        description="The loss as training requests have it; null where it is printed only"
    )
    hyperparameters: Json = Field(description="Of trees; empty for other scorers")
    scorer: Json = Field(
        description="What is trained, as training requests have it; its epochs are the protocol's",
        examples=[{"kind": "linear"}],
    )
    deviations: list[str] = Field(description="Where it differs from the paper's own set-up")


class PaperClaim(ResponseModel):
    """A claim of a paper about its numbers."""

    name: str
    statement: str
    source: str = Field(description="Place in the paper", examples=["section 5.3, table 5"])


class PaperTable(PaperTableEntry):
    """A table or figure of a paper."""

    rows: list[str]
    columns: list[str]
    unit: str = Field(examples=["percent"])
    protocol: str = Field(description="How the paper trains and measures")
    test: str | None = Field(description="The paper's own test of significance")
    methods: list[PaperMethod]
    claims: list[PaperClaim]
    deviations: list[str]
    printed: dict[str, dict[str, dict[str, Json]]] = Field(
        description="Printed numbers by corpus, row and column: `value`, `mark` and `half_width`",
        examples=[{"WEB30K": {"LambdaMART": {"NDCG@5": {"value": 46.0, "mark": "", "half_width": None}}}}],
    )


class Paper(ResponseModel):
    """A paper with everything that its experiments need."""

    name: str
    title: str
    authors: str
    year: int
    data: Literal["synthetic", "sparse"]
    corpora: list[str] = Field(description="The corpora of the printed numbers")
    deviations: list[str] = Field(description="Where our set-up differs in all tables")
    tables: list[PaperTable]


class ExperimentCounts(ResponseModel):
    """Trainings of an experiment by the status of their jobs."""

    planned: int = Field(0, description="Not queued yet; few wait in the queue at a time")
    queued: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    shared: int = Field(0, description="How many of them were there already, of this or another experiment")


class ExperimentDataset(ResponseModel):
    """A dataset of an experiment."""

    fold: int = Field(description="0 without folds")
    name: str = Field(description="Its name in the plan", examples=["main"])
    part: Literal["train", "validation", "test"]
    dataset_id: str


class ExperimentEntry(ResponseModel):
    """An experiment in a list."""

    id: str = Field(examples=["exp_01k9x2z4q7c8v5n3b6r1"])
    paper: str
    title: str = Field(description="Title of the paper")
    year: int
    tables: list[str]
    scale: Scale
    data: str = Field(description="`synthetic`, `sparse`, a folder, or `datasets`")
    corpus: str | None = Field(description="The corpus that the data is by its counts; null for other data")
    folds: list[int] = Field(description="Empty for a single split")
    dry_run: bool
    status: Status
    counts: ExperimentCounts
    sentence: str | None = Field(description="Its result in a sentence; null before it has ended")
    problem: FailureReason | None = Field(description="Why it failed")
    report_job_id: str | None = Field(description="The latest job that writes the report")
    project: ShownProject
    created_at: datetime
    finished_at: datetime | None


class ExperimentPage(ResponseModel):
    """A page of experiments."""

    items: list[ExperimentEntry]
    next_cursor: NextCursor


class Experiment(ExperimentEntry):
    """An experiment with its report so far."""

    datasets: list[ExperimentDataset]
    report: Json | None = Field(
        description="The tables with ours, printed and difference, and the claims with their verdicts;"
        " `complete` is false while trainings are missing. Null before the first table is complete"
    )
    estimate: Json | None = Field(
        description="Of a dry run: `runs`, `trees`, `epochs` and `hours` of one worker, and what was measured"
    )


class ExperimentTraining(ResponseModel):
    """A training that an experiment needs."""

    model_config = ConfigDict(from_attributes=True)

    digest: str = Field(description="Digest of the run, as the cells of the report name it in `run`")
    fold: int
    method: str = Field(examples=["LambdaMART"])
    loss: Json
    hyperparameters: Json = Field(description="Of trees; empty for other scorers")
    scorer: Json | None = Field(
        description="A linear scorer or network with its hyperparameters; null for trees"
    )
    status: Literal["planned", "queued", "running", "succeeded", "failed", "cancelled"]
    shared: bool = Field(description="Whether the job was there already")
    job_id: str | None = Field(description="Null until it is queued")
    evaluation_job_id: str | None = Field(description="The evaluation on the training data, if one is needed")
    value: float | None = Field(description="Latest value of the job's main metric")
    problem: FailureReason | None


class ExperimentTrainings(ResponseModel):
    """All trainings of an experiment, in the order of the plan."""

    items: list[ExperimentTraining]
