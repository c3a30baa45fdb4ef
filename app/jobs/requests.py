"""Requests to submit jobs, a union discriminated by `kind`."""

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from app.datasets.schemas import HoldOut, LabelMap, Validation
from app.http.labels import NewProject, Paragraphs, Tags
from app.http.schemas import Id, ModelName, ModelReference, NameForPeople, RequestModel
from app.jobs.contract_schemas import Contract
from app.jobs.distribution_schemas import DistributionRequest
from app.jobs.parameter_schemas import FeatureName, LossRequest, ScorerRequest, request_model
from core.errors import InvalidInput
from core.metrics import metric_name
from core.scorers import WeightedSum
from core.store.repositories.projects import Labels
from core.training import Hyperparameters

DEFAULT_METRICS = ("ndcg@5", "ndcg@10")
MAX_METRICS = 32
MAX_ROUNDS = 100_000

HyperparametersRequest: Any = request_model(
    "Hyperparameters",
    Hyperparameters,
    "How trees are grown, under LightGBM's own names.",
    auto=(
        bool,
        Field(
            False,
            exclude=True,  # what is chosen is stored instead
            description="Choose num_leaves, min_data_in_leaf, learning_rate and num_iterations by the size of"
            " the training dataset, where they are not given here",
        ),
    ),
)


def _spelled_out(value: Any) -> Any:
    return {"auto": True} if value == "auto" else value


HyperparametersOrAuto = Annotated[
    HyperparametersRequest,
    BeforeValidator(_spelled_out, json_schema_input_type=HyperparametersRequest | Literal["auto"]),
]


def _stored_name(metric: str) -> str:
    try:
        return metric_name(metric)
    except InvalidInput:
        return metric  # refused with its place by the checks of a submission


MetricName = Annotated[str, Field(max_length=64), AfterValidator(_stored_name)]
MetricNames = Annotated[
    list[MetricName],
    Field(
        min_length=1,
        max_length=MAX_METRICS,
        description="Spellings as `GET /v1/metrics` lists them",
        examples=[["ndcg@5", "ndcg@10", "map", "mrr"]],
    ),
]
Permutations = Annotated[
    int,
    Field(
        ge=1_000,
        le=10_000_000,
        description="Random assignments of Fisher's randomisation test; exact where few queries differ",
    ),
]
Priority = Literal["low", "normal", "high"]
Seed = Annotated[
    int,
    Field(
        ge=0,
        le=2**31 - 1,
        description="Decides every random choice, also of a loss without a `seed`; same seed, same result",
    ),
]


FeatureNames = Annotated[
    list[FeatureName],
    Field(min_length=1, max_length=100_000),
]
AllowAbsentFeatures = Annotated[
    bool,
    Field(
        description="Go on where a dataset lacks more than half of the features that a model uses; otherwise"
        " the job fails"
    ),
]


class EarlyStoppingRequest(RequestModel):
    """Stop when validation no longer improves."""

    metric: MetricName = Field(description="Watched on the validation data", examples=["ndcg@5"])
    rounds: int = Field(ge=1, le=MAX_ROUNDS, description="Iterations without improvement", examples=[30])


class DiagnosticsRequest(RequestModel):
    """Compute diagnostics of a loss during training."""

    interval: int = Field(ge=1, le=100_000, description="Iterations from one look to the next", examples=[10])
    cutoff: int = Field(10, ge=1, le=10_000, description="k of the top k that is looked at")


class LossDiagnosticsRequest(RequestModel):
    """Compute diagnostics of a loss at the scores of a model."""

    loss: LossRequest
    cutoff: int = Field(10, ge=1, le=10_000, description="k of the top k that is looked at")


class LimitsRequest(RequestModel):
    """Limits above which the job fails; the worker's limits apply as well."""

    seconds: float | None = Field(
        None, gt=0, le=31_536_000, description="Running time over all attempts", examples=[3600]
    )
    memory_bytes: int | None = Field(
        None, ge=2**20, le=2**50, description="Memory that it takes in a worker", examples=[8_589_934_592]
    )


class QueuedRequest(RequestModel):
    """Fields shared by all job requests."""

    priority: Priority = Field(
        "normal", description="Jobs of a higher one go first; among equals, keys take turns"
    )
    limits: LimitsRequest | None = None
    # Labels are no part of what is asked for, so that they are not kept in the specification.
    name: NameForPeople | None = Field(
        None,
        exclude=True,
        description="Shown in place of what the job makes or measures",
        examples=["fewer leaves"],
    )
    notes: Paragraphs | None = Field(None, exclude=True, description="For people", examples=["As of May"])
    tags: Tags = Field(
        default_factory=dict, exclude=True, description="Tags of the job", examples=[{"team": "search"}]
    )
    project: NewProject = Field(None, exclude=True)

    def labels(self) -> Labels:
        """Return what is written on the job."""
        return Labels(self.name, self.notes, self.tags, self.project)


class FeatureChoiceRequest(RequestModel):
    """Features that the model has: those to use, or all but those to leave out."""

    # The only example: of both together, none would be accepted.
    use: FeatureNames | None = Field(
        None, description="Only these; or `leave_out`", examples=[["bm25", "pagerank"]]
    )
    leave_out: FeatureNames | None = Field(None, description="All but these")


class TrainingRequest(QueuedRequest):
    """Fields of all requests to train, whatever they name their datasets by."""

    kind: Literal["train"]
    model_name: ModelName
    tags: Tags = Field(
        default_factory=dict,
        description="Tags of the job and of the model that it makes, such as what a grid varies",
        examples=[{"learning_rate": "0.05", "grid": "2026-01-05 10:02"}],
    )
    test: HoldOut | None = Field(
        None,
        description="Instead of a test dataset, part of the training dataset, taken out before `validation`",
    )
    label_map: LabelMap = Field(default_factory=dict)
    features: FeatureChoiceRequest | None = Field(
        None, description="The features of the training data that the model has; all when null"
    )
    init_model: ModelReference | None = Field(
        None, description="A model whose trees come first; training goes on from its scores"
    )
    labels_from: Annotated[str, Field(max_length=210, pattern=r"^model:[^\x00-\x1f\x7f]+$")] | None = Field(
        None,
        description="A model whose scores replace the labels of the training queries, `model:` and its"
        " reference; queries that are validated and tested keep their judgments",
        examples=["model:web@champion"],
    )
    scorer: ScorerRequest | None = Field(
        None, description="What is trained, with its hyperparameters unless it is trees; trees when null"
    )
    loss: LossRequest | None = Field(
        None,
        validate_default=True,
        description="What is minimised; required unless `scorer` is a sum",
    )
    hyperparameters: HyperparametersOrAuto = Field(
        default_factory=HyperparametersRequest,
        description='Of trees; `"auto"` is short for `{"auto": true}`',
    )
    categorical_feature: list[Annotated[str, Field(max_length=1000)]] = Field(
        default_factory=list,
        max_length=100_000,
        description="Features of whole numbers to treat as categories; those of texts are categories anyway",
        examples=[["shop_id"]],
    )
    metrics: MetricNames = Field(default_factory=lambda: list(DEFAULT_METRICS))
    early_stopping: EarlyStoppingRequest | None = Field(None, description="Needs `validation`")
    contract: Contract = "default"
    diagnostics: DiagnosticsRequest | None = Field(
        None, description="Computed on the training data; their values are curves of the history"
    )
    seed: Seed = 42
    bootstrap: bool = Field(
        False,
        description="Learn from as many training queries drawn with replacement by the seed, so that another"
        " seed gives another model",
    )
    metric_interval: int = Field(
        1, ge=1, le=100_000, description="Iterations from one measurement of loss and metrics to the next"
    )
    allow_absent_features: AllowAbsentFeatures = False
    distribution: DistributionRequest | None = Field(
        None,
        description="Grow the trees on several ranks together; in one process when null. For trees without"
        " folds and `diagnostics`",
    )

    @field_validator("loss")
    @classmethod
    def _require_loss(cls, loss: Any, info: ValidationInfo) -> Any:
        scorer = info.data.get("scorer")
        if loss is None and "scorer" in info.data and (scorer is None or scorer.kind != WeightedSum.kind):
            raise PydanticCustomError("missing", "Field required")
        return loss


class TrainRequest(TrainingRequest):
    """Train a new version of a model."""

    dataset_id: Id = Field(description="A ready dataset to learn from")
    validation: Validation | None = Field(
        None,
        description="What picks the best iteration; none when null. Folds are held out one after the other,"
        " and the model is then trained on all of them",
    )
    test_dataset_id: Id | None = Field(None, description="A ready dataset to evaluate and rank at the end")


class EvaluateRequest(QueuedRequest):
    """Evaluate a model or an uploaded ranking on a dataset."""

    kind: Literal["evaluate"]
    model: ModelReference | None = Field(None, description="What ranks; or `ranking_id`")
    ranking_id: Id | None = Field(
        None, description="A stored ranking, joined with the dataset by query and document ids"
    )
    dataset_id: Id = Field(description="A ready dataset")
    metrics: MetricNames = Field(default_factory=lambda: list(DEFAULT_METRICS))
    contract: Contract = "default"
    diagnostics: LossDiagnosticsRequest | None = Field(None, description="Needs `model`")
    label_map: LabelMap = Field(default_factory=dict)
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False


class RankDatasetRequest(QueuedRequest):
    """Order a dataset's documents by a model."""

    kind: Literal["rank"]
    model: ModelReference
    dataset_id: Id = Field(description="A ready dataset")
    allow_absent_features: AllowAbsentFeatures = False


class ModelSystem(RequestModel):
    """A model to compare."""

    model: ModelReference


class RankingSystem(RequestModel):
    """A ranking to compare: an uploaded run, or one that an earlier job stored."""

    ranking_id: Id = Field(examples=["rnk_…"])


def _system_form(value: Any) -> str | None:
    for name in ("model", "ranking_id"):
        if (isinstance(value, dict) and name in value) or hasattr(value, name):
            return name
    return None


SystemRequest = Annotated[
    Annotated[ModelSystem, Tag("model")] | Annotated[RankingSystem, Tag("ranking_id")],
    Discriminator(
        _system_form,
        custom_error_type="system_form",
        custom_error_message='must be {"model": "web:3"} or {"ranking_id": "rnk_…"}',
    ),
]


class CompareRequest(QueuedRequest):
    """Compare models and rankings, query by query, on one dataset."""

    kind: Literal["compare"]
    dataset_id: Id = Field(description="A ready dataset")
    systems: list[SystemRequest] = Field(
        min_length=2, max_length=20, description="What to compare; each later one against each earlier one"
    )
    reference: int | None = Field(
        None,
        ge=0,
        le=19,
        description="Place of the system, from 0, that the others are compared with, instead of all pairs",
        examples=[0],
    )
    correction: Literal["holm", "none"] = Field(
        "holm",
        description="Of the p-values for the number of tests; `none` suits a single test that was planned",
    )
    pool_folds: bool = Field(
        False,
        description="Rank each query by the model of a cross-validation that has not seen it. Models must"
        " have been cross-validated on this dataset; rankings are compared on the same queries",
    )
    metrics: MetricNames = Field(
        default_factory=lambda: list(DEFAULT_METRICS), description="The first one decides"
    )
    contract: Contract = "default"
    permutations: Permutations = 100_000
    label_map: LabelMap = Field(default_factory=dict)
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False


class PartialDependenceRequest(RequestModel):
    """Partial dependence of a model's scores on single features."""

    features: list[FeatureName] | None = Field(
        None,
        max_length=100,
        description="Names; the ten that are most important by permutation when null",
        examples=[["bm25", "pagerank"]],
    )
    grid: int = Field(32, ge=2, le=256, description="Values of each feature, its quantiles")
    sample: int = Field(2_000, ge=1, le=100_000, description="Documents that the mean is taken over")


class InspectRequest(QueuedRequest):
    """Measure permutation importance and partial dependence of a model on a dataset."""

    kind: Literal["inspect"]
    model: ModelReference
    dataset_id: Id = Field(description="A ready dataset")
    metric: MetricName = Field("ndcg@10", description="What is lost when a feature is shuffled")
    contract: Contract = "default"
    label_map: LabelMap = Field(default_factory=dict)
    repeats: int = Field(5, ge=1, le=100, description="How often each feature is shuffled")
    within: Literal["dataset", "query"] = Field(
        "dataset",
        description="Over the `dataset` a document gets the value of any other, so that features of the query"
        " are judged, too; within the `query` what does not tell its documents apart counts for nothing",
    )
    partial_dependence: PartialDependenceRequest = Field(default_factory=PartialDependenceRequest)
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False


class DriftThresholdsRequest(RequestModel):
    """How much a feature or the scores must differ to count as drift: surely, and by enough."""

    p: float = Field(
        0.01, gt=0, le=0.5, description="Greatest probability that a report without drift finds any"
    )
    psi: float = Field(0.2, gt=0, le=10, description="Least population stability index")
    missing: float = Field(
        0.1, gt=0, le=1, description="Least difference of the shares of documents without a value"
    )


class DriftRequest(QueuedRequest):
    """Compare the score samples of a model with its training data, and with the samples before."""

    kind: Literal["drift"]
    model: ModelReference
    days: float = Field(7, gt=0, le=366, description="Samples of the last so many days are looked at")
    compare_with_previous: bool = Field(
        True, description="Whether they are compared with those of as many days before, too"
    )
    dataset_id: Id | None = Field(
        None, description="Compare with this dataset instead of the training data of the model"
    )
    queries_by: Literal["id", "request"] = Field(
        "id",
        description="What makes two samples the same query: its `id`, or nothing (`request`) where ids do not"
        " name queries. Of a query the latest sample counts",
    )
    thresholds: DriftThresholdsRequest = Field(default_factory=DriftThresholdsRequest)
    seed: Seed = 42


JobRequest = Annotated[
    TrainRequest | EvaluateRequest | RankDatasetRequest | CompareRequest | InspectRequest | DriftRequest,
    Field(discriminator="kind"),
]

MOST_JOBS_AT_ONCE = 256


class RepeatsRequest(RequestModel):
    """Train several times by different seeds, to see how far chance moves a metric."""

    count: int = Field(ge=2, le=MOST_JOBS_AT_ONCE, description="Trainings of each job", examples=[5])
    by: Literal["bootstrap", "seed"] = Field(
        "bootstrap",
        description="`bootstrap` sets `bootstrap`; with `seed` the trainings differ by what they draw anyway,"
        " such as by `query_fraction`",
    )


class JobBatchRequest(RequestModel):
    """Several jobs, such as the trainings of a grid, queued together or not at all."""

    jobs: list[JobRequest] = Field(min_length=1, max_length=MOST_JOBS_AT_ONCE)
    repeats: RepeatsRequest | None = Field(
        None,
        description="Queue each training several times: with its seed, the next one and so on, and with the"
        " tag `repeat`",
    )

    @property
    def size(self) -> int:
        """How many jobs are queued."""
        return len(self.jobs) * (self.repeats.count if self.repeats else 1)


REQUEST_EXAMPLES: dict[str, Any] = {
    "train": {
        "summary": "Train with NDCG-Loss2++ and stop early",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"dataset_id": "ds_01k9x2m4q7c8v5n3b6r2"},
            "test_dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "loss": {"name": "ndcg-loss2++", "mu": 5.0, "truncation_level": 8},
            "hyperparameters": {"learning_rate": 0.05, "num_leaves": 64, "num_iterations": 500},
            "metrics": ["ndcg@5", "ndcg@10", "map", "mrr"],
            "early_stopping": {"metric": "ndcg@5", "rounds": 30},
            "seed": 42,
        },
    },
    "train-labelled": {
        "summary": "Train in a project, with a name, notes and tags to find it by",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "lambdarank"},
            "name": "clicks of the spring",
            "notes": "Without the week of the outage",
            "tags": {"team": "search"},
            "project": "web-search",
        },
    },
    "train-split": {
        "summary": "Train with a fifth of the queries held out",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "lambdarank"},
        },
    },
    "train-fold": {
        "summary": "Train on a dataset with a column that says which queries are for the test",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"folds": 5, "fold": 1},
            "test": {"column": "split", "values": ["test"]},
            "label_map": {"-1": 0},
            "loss": {"name": "lambdarank"},
        },
    },
    "train-folds": {
        "summary": "Cross-validate by five folds, then train on all of them",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"folds": 5},
            "loss": {"name": "lambdarank"},
            "early_stopping": {"metric": "ndcg@5", "rounds": 30},
        },
    },
    "train-distributed": {
        "summary": "Train on up to eight machines",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "lambdarank"},
            "distribution": {"ranks": {"at_least": 2, "at_most": 8}, "threads_per_rank": 4},
        },
    },
    "train-constrained": {
        "summary": "Train without a feature, with scores that rise with another one",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "features": {"leave_out": ["clicks"]},
            "loss": {"name": "lambdarank"},
            "hyperparameters": {
                "monotone_constraints": {"bm25": 1, "age_days": -1},
                "interaction_constraints": [["bm25", "age_days"], ["pagerank"]],
                "feature_contri": {"pagerank": 0.5},
            },
        },
    },
    "train-auto": {
        "summary": "Train with sizes chosen for the dataset, but a learning rate of your own",
        "value": {
            "kind": "train",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "lambdarank"},
            "hyperparameters": {"auto": True, "learning_rate": 0.02},
        },
    },
    "train-distilled": {
        "summary": "Train a small linear scorer on the scores of a large model",
        "value": {
            "kind": "train",
            "model_name": "first-stage",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "features": {"use": ["bm25", "pagerank"]},
            "labels_from": "model:web@champion",
            "loss": {"name": "listnet", "target": "softmax"},
            "scorer": {"kind": "linear", "epochs": 50},
        },
    },
    "train-sum": {
        "summary": "Add the scores of two models, with weights fitted on validation data",
        "value": {
            "kind": "train",
            "model_name": "both",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "scorer": {"kind": "sum", "models": ["web:3", "net@champion"]},
            "metrics": ["ndcg@10"],
        },
    },
    "train-network": {
        "summary": "Train a network of two hidden layers on the same loss",
        "value": {
            "kind": "train",
            "model_name": "net",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "validation": {"fraction": 0.2},
            "loss": {"name": "ndcg-loss2++"},
            "scorer": {
                "kind": "mlp",
                "hidden": [128, 64],
                "dropout": 0.1,
                "learning_rate": 0.001,
                "epochs": 100,
                "inputs": "rank-gauss",
            },
            "early_stopping": {"metric": "ndcg@5", "rounds": 10},
        },
    },
    "evaluate": {
        "summary": "Evaluate the latest version of a model",
        "value": {
            "kind": "evaluate",
            "model": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "metrics": ["ndcg@10"],
            "contract": "lightgbm",
        },
    },
    "evaluate-run": {
        "summary": "Evaluate an uploaded run as trec_eval would",
        "value": {
            "kind": "evaluate",
            "ranking_id": "rnk_01k9x3b1d5f8g2h4j6m2",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "metrics": ["map", "mrr", "ndcg@10"],
            "contract": "trec_eval",
        },
    },
    "compare": {
        "summary": "Is the new version better?",
        "value": {
            "kind": "compare",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "systems": [{"model": "web@champion"}, {"model": "web:4"}],
            "metrics": ["ndcg@10", "mrr"],
        },
    },
    "compare-folds": {
        "summary": "Is any loss better than the first, by the folds of their cross-validations?",
        "value": {
            "kind": "compare",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "systems": [{"model": "web:1"}, {"model": "web:2"}, {"model": "web:3"}],
            "reference": 0,
            "correction": "holm",
            "pool_folds": True,
        },
    },
    "inspect": {
        "summary": "What does the model look at?",
        "value": {
            "kind": "inspect",
            "model": "web@champion",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "metric": "ndcg@10",
            "repeats": 5,
            "within": "query",
            "partial_dependence": {"features": ["bm25", "pagerank"], "grid": 32, "sample": 2000},
        },
    },
    "drift": {
        "summary": "Have the requests of the last week drifted?",
        "value": {"kind": "drift", "model": "web@champion", "days": 7},
    },
    "rank": {
        "summary": "Rank a dataset with an aliased model",
        "value": {"kind": "rank", "model": "web@champion", "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3"},
    },
}

BATCH_EXAMPLES: dict[str, Any] = {
    "grid": {
        "summary": "Train with two seeds",
        "value": {"jobs": [{**REQUEST_EXAMPLES["train-split"]["value"], "seed": seed} for seed in (1, 2)]},
    },
    "repeats": {
        "summary": "Train five times on bootstrap samples of the queries",
        "value": {"jobs": [REQUEST_EXAMPLES["train-split"]["value"]], "repeats": {"count": 5}},
    },
}
