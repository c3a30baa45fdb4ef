"""Requests to train a model."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, create_model, field_validator
from pydantic_core import PydanticCustomError

from app.datasets.hold_out_schemas import HoldOut, LabelMap, Validation
from app.http.labels import Tags
from app.http.schemas import Id, ModelName, ModelReference, RequestModel
from app.jobs.contract_schemas import Contract
from app.jobs.distribution_schemas import DistributionRequest
from app.jobs.parameter_schemas import (
    FeatureName,
    LossRequest,
    ScorerRequest,
    declared_fields,
    request_model,
)
from app.jobs.requests.fields import (
    DEFAULT_METRICS,
    AllowAbsentFeatures,
    MetricName,
    MetricNames,
    QueuedRequest,
    Seed,
)
from core.clicks.correction import ClickCorrection
from core.scorers import WeightedSum
from core.training import Hyperparameters
from core.training.options import TrainingOptions

MAX_ROUNDS = 100_000

HyperparametersRequest: Any = request_model(
    "Hyperparameters",
    Hyperparameters,
    "How trees are grown, under LightGBM's own names.",
    auto=(
        bool,
        Field(
            False,
            exclude=True,  # the chosen values are stored instead
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

FeatureNames = Annotated[
    list[FeatureName],
    Field(min_length=1, max_length=100_000),
]


class EarlyStoppingRequest(RequestModel):
    """Stop when validation no longer improves."""

    metric: MetricName = Field(description="Watched on the validation data", examples=["ndcg@5"])
    rounds: int = Field(ge=1, le=MAX_ROUNDS, description="Iterations without improvement", examples=[30])


class DiagnosticsRequest(RequestModel):
    """Compute diagnostics of a loss during training."""

    interval: int = Field(ge=1, le=100_000, description="Iterations from one look to the next", examples=[10])
    cutoff: int = Field(10, ge=1, le=10_000, description="k of the top k that is looked at")


class FeatureChoiceRequest(RequestModel):
    """Features that the model has: those to use, or all but those to leave out."""

    # Only one of the fields has an example: a request with both is refused.
    use: FeatureNames | None = Field(
        None, description="Only these; or `leave_out`", examples=[["bm25", "pagerank"]]
    )
    leave_out: FeatureNames | None = Field(None, description="All but these")


ClickCorrectionRequest: Any = request_model(
    "ClickCorrection",
    ClickCorrection,
    "How a training on clicks is corrected for the ranks at which documents were shown.",
    propensity_job=(
        Id | None,
        Field(
            None,
            exclude=True,  # its propensities are stored instead
            description="A finished job `propensity` whose propensities are taken, and for affine the"
            " intercepts",
        ),
    ),
)

# Code reads these fields from the checked `TrainingSpec`.
_OptionsRequest = create_model("_OptionsRequest", __base__=QueuedRequest, **declared_fields(TrainingOptions))


class TrainingRequest(_OptionsRequest):
    """Fields of all requests to train, except for their datasets."""

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
    clicks: ClickCorrectionRequest | None = Field(
        None,
        description="Train on clicks: those of a log, or of a dataset whose documents have the rank in a"
        " column. Beside a corrected model the naive one is trained, and both are compared",
    )
    diagnostics: DiagnosticsRequest | None = Field(
        None, description="Computed on the training data; their values are curves of the history"
    )
    seed: Seed = 42
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
