"""Requests and responses of papers and experiments."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.http.labels import NewProject, ShownProject
from app.http.schemas import FailureReason, Id, Json, PageModel, RequestModel, ResponseModel
from app.jobs.parameter_schemas import UndistributedRequest
from core.experiments.paper import Scale

Status = Literal["preparing", "running", "reporting", "succeeded", "failed", "cancelled"]
_NAME = r"^[a-z0-9][a-z0-9-]*$"
PaperName = Annotated[str, Field(max_length=64, pattern=_NAME, examples=["lambdaloss-2018"])]
_TableName = Annotated[str, Field(max_length=64, pattern=_NAME)]
_Fold = Annotated[int, Field(ge=1, le=99)]


class ExperimentDatasets(RequestModel):
    """Datasets of one split; the experiment starts when all are ready."""

    train: Id = Field(examples=["ds_01k9x2m4q7c8v5n3b6r1"])
    validation: Id = Field(examples=["ds_01k9x2m4q7c8v5n3b6r2"])
    test: Id = Field(examples=["ds_01k9x2m4q7c8v5n3b6r3"])


class ExperimentRequest(UndistributedRequest):
    """Tables of a paper to train and measure again."""

    paper: PaperName = Field(description="Name of a paper, as listed by `GET /v1/papers`")
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
        description="`synthetic`, `sparse`, or a folder below the data roots; null for the synthetic data"
        " chosen for the paper",
        examples=[None],  # `data` is left out of requests with `dataset_ids`
    )
    dataset_ids: ExperimentDatasets | None = Field(
        None, description="Existing datasets to use instead of `data`"
    )
    folds: list[_Fold] | None = Field(
        None,
        min_length=1,
        max_length=20,
        description="Numbers of the subfolders `Fold1`, `Fold2`, …; the folder itself when null",
        examples=[None],
    )
    dry_run: bool = Field(
        False,
        description="Train only five trees or epochs of each loss, and estimate the total time",
    )
    project: NewProject = None


REQUEST_EXAMPLES: dict[str, Any] = {
    "quick": {
        "summary": "A table on synthetic data",
        "value": {"paper": "lambda-ex-2023", "tables": ["table-5"], "data": "sparse", "scale": "quick"},
    },
    "datasets": {
        "summary": "Estimate the time of all tables on given datasets",
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
    data: Literal["synthetic", "sparse"] = Field(
        description="Default synthetic data of the paper's experiments"
    )
    tables: list[PaperTableEntry]


class PaperList(ResponseModel):
    """All papers, oldest first."""

    items: list[PaperEntry]


class PaperMethod(ResponseModel):
    """A row of a table and the method that is trained for it."""

    row: str = Field(examples=["LambdaMART"])
    loss: Json | None = Field(
        description="Loss, as in a training request; null for methods that are not trained"
    )
    hyperparameters: Json = Field(description="Hyperparameters of trees; empty for other scorers")
    scorer: Json = Field(
        description="Scorer, as in a training request; the protocol sets its epochs",
        examples=[{"kind": "linear"}],
    )
    deviations: list[str] = Field(description="Differences from the paper's set-up")


class PaperClaim(ResponseModel):
    """A claim of a paper about its numbers."""

    name: str
    statement: str
    source: str = Field(description="Section or table of the paper", examples=["section 5.3, table 5"])


class PaperTable(PaperTableEntry):
    """A table or figure of a paper."""

    rows: list[str]
    columns: list[str]
    unit: str = Field(examples=["percent"])
    protocol: str = Field(description="The paper's protocol of training and evaluation")
    test: str | None = Field(description="The paper's significance test")
    methods: list[PaperMethod]
    claims: list[PaperClaim]
    deviations: list[str]
    printed: dict[str, dict[str, dict[str, Json]]] = Field(
        description="Published numbers by corpus, row and column: `value`, `mark` of significance, and"
        " `half_width` of the 95% interval",
        examples=[{"WEB30K": {"LambdaMART": {"NDCG@5": {"value": 46.0, "mark": "", "half_width": None}}}}],
    )


class Paper(ResponseModel):
    """A paper with everything that its experiments need."""

    name: str
    title: str
    authors: str
    year: int
    data: Literal["synthetic", "sparse"]
    corpora: list[str] = Field(description="Corpora of the published numbers")
    deviations: list[str] = Field(description="Differences from the paper's set-up in all tables")
    tables: list[PaperTable]


class ExperimentCounts(ResponseModel):
    """Trainings of an experiment by the status of their jobs."""

    planned: int = Field(0, description="Trainings that are not queued yet; only a few are queued at a time")
    queued: int = 0
    running: int = 0
    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    shared: int = Field(
        0,
        description="Number of these trainings that reuse the job of an equal training, of this or another"
        " experiment",
    )


class ExperimentDataset(ResponseModel):
    """A dataset of an experiment."""

    fold: int = Field(description="Number of the fold; 0 without folds")
    name: str = Field(description="Name of the dataset in the plan", examples=["main"])
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
    corpus: str | None = Field(
        description="Public corpus that the data is recognised as by its counts; null for other data"
    )
    folds: list[int] = Field(description="Numbers of the folds; empty for a single split")
    dry_run: bool
    status: Status
    counts: ExperimentCounts
    sentence: str | None = Field(description="Result in one sentence; null before the experiment has ended")
    problem: FailureReason | None = Field(description="Why the experiment failed")
    report_job_id: str | None = Field(description="Latest job that writes the report")
    project: ShownProject
    created_at: datetime
    finished_at: datetime | None


class ExperimentPage(PageModel):
    """A page of experiments."""

    items: list[ExperimentEntry]


class Experiment(ExperimentEntry):
    """An experiment with its report so far."""

    datasets: list[ExperimentDataset]
    report: Json | None = Field(
        description="Tables with reproduced and published numbers and differences, and claims with verdicts;"
        " `complete` is false while trainings are missing. Null before the first table is complete"
    )
    estimate: Json | None = Field(
        description="Estimate of a dry run: `runs`, `trees`, `epochs`, `hours` of one worker, and the"
        " measured times"
    )


class ExperimentTraining(ResponseModel):
    """A training that an experiment needs."""

    digest: str = Field(description="Digest of the training: the field `run` of the report's cells")
    fold: int
    method: str = Field(examples=["LambdaMART"])
    loss: Json
    hyperparameters: Json = Field(description="Hyperparameters of trees; empty for other scorers")
    scorer: Json | None = Field(
        description="A linear scorer or network with its hyperparameters; null for trees"
    )
    status: Literal["planned", "queued", "running", "succeeded", "failed", "cancelled"]
    shared: bool = Field(description="Whether an existing job is reused")
    job_id: str | None = Field(description="Job of the training; null until it is queued")
    evaluation_job_id: str | None = Field(description="Job of the evaluation on the training data, if needed")
    value: float | None = Field(description="Latest value of the job's main metric")
    problem: FailureReason | None


class ExperimentTrainings(ResponseModel):
    """All trainings of an experiment, in the order of the plan."""

    items: list[ExperimentTraining]
