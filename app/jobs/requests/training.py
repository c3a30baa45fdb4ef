"""Requests to train a model, with chosen hyperparameters or automatically."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError
from pydantic_core.core_schema import ErrorType

from app.datasets.hold_out_schemas import HoldOut, LabelMap, Validation
from app.http.labels import Tags
from app.http.schemas import Id, ModelName, ModelReference, RequestModel
from app.jobs import parameter_schemas
from app.jobs.contract_schemas import Contract
from app.jobs.requests.fields import (
    DEFAULT_METRICS,
    AllowAbsentFeatures,
    MetricName,
    MetricNames,
    QueuedRequest,
    Seed,
)
from core.clicks.correction import ClickCorrection
from core.jobs.auto_train import AutoTrainJob, Preference
from core.parameters import parameters_of
from core.scorers import WeightedSum
from core.training import Hyperparameters
from core.training.options import TrainingOptions

MAX_ROUNDS = 100_000
_HYPERPARAMETERS = {name: p.name for p in parameters_of(Hyperparameters) for name in (p.name, *p.aliases)}
_PYDANTIC_TYPES = frozenset(get_args(ErrorType))

HyperparametersRequest: Any = parameter_schemas.request_model(
    "Hyperparameters",
    Hyperparameters,
    "Hyperparameters of trees, with LightGBM's names.",
    auto=(
        bool,
        Field(
            False,
            exclude=True,  # the chosen values are stored instead
            description="Choose num_leaves, min_data_in_leaf, learning_rate and num_iterations from the size"
            " of the training dataset, unless they are given",
        ),
    ),
)


def _expand_auto(value: Any) -> Any:
    return {"auto": True} if value == "auto" else value


HyperparametersOrAuto = Annotated[
    HyperparametersRequest,
    BeforeValidator(_expand_auto, json_schema_input_type=HyperparametersRequest | Literal["auto"]),
]

FeatureNames = Annotated[
    list[parameter_schemas.FeatureName],
    Field(min_length=1, max_length=100_000),
]


class EarlyStoppingRequest(RequestModel):
    """Stop when validation no longer improves."""

    metric: MetricName = Field(description="Metric to monitor on the validation data", examples=["ndcg@5"])
    rounds: int = Field(ge=1, le=MAX_ROUNDS, description="Iterations without improvement", examples=[30])


class DiagnosticsRequest(RequestModel):
    """Compute diagnostics of a loss during training."""

    interval: int = Field(
        ge=1, le=100_000, description="Number of iterations between two computations", examples=[10]
    )
    cutoff: int = Field(10, ge=1, le=10_000, description="Number of top documents to examine, k")


class FeatureChoiceRequest(RequestModel):
    """Features that the model has: those to use, or all but those to leave out."""

    # Only one of the fields has an example: a request with both is refused.
    use: FeatureNames | None = Field(
        None, description="Use only these features, instead of `leave_out`", examples=[["bm25", "pagerank"]]
    )
    leave_out: FeatureNames | None = Field(None, description="Use all features except these")


ClickCorrectionRequest: Any = parameter_schemas.request_model(
    "ClickCorrection",
    ClickCorrection,
    "Correction of the position bias in a training on clicks.",
    propensity_job=(
        Id | None,
        Field(
            None,
            exclude=True,  # its propensities are stored instead
            description="A finished `propensity` job whose propensities are used, and for `affine` also the"
            " intercepts",
        ),
    ),
)

# The fields of `TrainingOptions`; after the checks, code reads them from the `TrainingSpec`.
_OptionsRequest = create_model(
    "_OptionsRequest", __base__=QueuedRequest, **parameter_schemas.declared_fields(TrainingOptions)
)


def _is_hyperparameter(problem: ErrorDetails) -> bool:
    location = problem["loc"]
    return problem["type"] == "extra_forbidden" and len(location) == 1 and location[0] in _HYPERPARAMETERS


def _with_place(problem: ErrorDetails) -> InitErrorDetails:
    kind: str | PydanticCustomError = problem["type"]
    if _is_hyperparameter(problem):
        name = _HYPERPARAMETERS[str(problem["loc"][0])]
        kind = PydanticCustomError("elsewhere", "unknown field; set hyperparameters.{name}", {"name": name})
    elif kind not in _PYDANTIC_TYPES:
        kind = PydanticCustomError("custom", "{text}", {"text": problem["msg"]})
    return InitErrorDetails(type=kind, loc=problem["loc"], input=problem["input"], ctx=problem.get("ctx", {}))


class TrainingRequest(_OptionsRequest):
    """Fields of all requests to train, except for their datasets."""

    kind: Literal["train"]
    model_name: ModelName
    tags: Tags = Field(
        default_factory=dict,
        description="Tags of the job and of the model that it makes, such as the values that a grid varies",
        examples=[{"learning_rate": "0.05", "grid": "2026-01-05 10:02"}],
    )
    test: HoldOut | None = Field(
        None,
        description="Part of the training dataset to test on, instead of a test dataset; held out before"
        " `validation`",
    )
    label_map: LabelMap = Field(default_factory=dict)
    features: FeatureChoiceRequest | None = Field(
        None, description="Features of the training data to use; all when null"
    )
    init_model: ModelReference | None = Field(
        None, description="A model of trees to continue training from; its trees are kept"
    )
    labels_from: Annotated[str, Field(max_length=210, pattern=r"^model:[^\x00-\x1f\x7f]+$")] | None = Field(
        None,
        description="`model:` and the reference of a teacher, whose scores replace the labels of the training"
        " queries; validation and test queries keep their judgments",
        examples=["model:web@champion"],
    )
    scorer: parameter_schemas.ScorerRequest | None = Field(
        None,
        description="Kind of model to train, with its hyperparameters; trees when null, with"
        " `hyperparameters`",
    )
    loss: parameter_schemas.LossRequest | None = Field(
        None,
        validate_default=True,
        description="Loss to minimise; required unless `scorer` is a sum",
    )
    hyperparameters: HyperparametersOrAuto = Field(
        default_factory=HyperparametersRequest,
        description='Hyperparameters of trees; `"auto"` is short for `{"auto": true}`',
    )
    categorical_feature: list[parameter_schemas.FeatureName] = Field(
        default_factory=list,
        max_length=100_000,
        description="Integer features to treat as categories; text features always are categories",
        examples=[["shop_id"]],
    )
    metrics: MetricNames = Field(default_factory=lambda: list(DEFAULT_METRICS))
    early_stopping: EarlyStoppingRequest | None = Field(
        None, description="Criterion to stop training early; requires `validation`"
    )
    contract: Contract = "default"
    clicks: ClickCorrectionRequest | None = Field(
        None,
        description="Train on the clicks of a log, or of a dataset with a column of ranks. A naive model"
        " without correction is also trained, and both are compared",
    )
    diagnostics: DiagnosticsRequest | None = Field(
        None, description="Diagnostics of the loss on the training data, recorded as curves of the history"
    )
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False
    distribution: parameter_schemas.DistributionRequest | None = Field(
        None,
        description="Train trees on several ranks; in one process when null. Not available with folds,"
        " `clicks`, `diagnostics` and some hyperparameters",
    )

    @model_validator(mode="wrap")
    @classmethod
    def _name_place(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Name the place of hyperparameters that are fields of the request itself."""
        try:
            return handler(value)
        except ValidationError as error:
            problems = error.errors(include_url=False)
            if not any(map(_is_hyperparameter, problems)):
                raise
            raise ValidationError.from_exception_data(
                cls.__name__, list(map(_with_place, problems))
            ) from None

    @field_validator("loss")
    @classmethod
    def _require_loss(cls, loss: Any, info: ValidationInfo) -> Any:
        scorer = info.data.get("scorer")
        if loss is None and "scorer" in info.data and (scorer is None or scorer.kind != WeightedSum.kind):
            raise PydanticCustomError("missing", "Field required")
        return loss


class TrainRequest(TrainingRequest):
    """Train a new version of a model."""

    dataset_id: Id = Field(description="A ready dataset to train on")
    validation: Validation | None = Field(
        None,
        description="Data that selects the best iteration; none when null. Folds are held out one after the"
        " other, and the model is then trained on all of them",
    )
    test_dataset_id: Id | None = Field(None, description="A ready dataset to evaluate and rank at the end")


CandidateName = Annotated[str, Field(max_length=100)]


class AutomaticTrainingRequest(QueuedRequest):
    """Fields of all requests for automatic trainings, except for their datasets."""

    kind: Literal["auto-train"]
    model_name: ModelName
    tags: Tags = Field(
        default_factory=dict,
        description="Tags of the job and of the model that it makes",
        examples=[{"team": "search"}],
    )
    metric: MetricName = Field("ndcg@10", description="Metric to select candidates by")
    contract: Contract = "default"
    label_map: LabelMap = Field(default_factory=dict)
    budget_seconds: float = Field(
        AutoTrainJob.budget_seconds,
        ge=10,
        le=86_400,
        description="Planned running time of the search; use `limits` to stop the job",
        examples=[300],
    )
    prefer: Preference = Field(
        AutoTrainJob.prefer,
        description="`best`: the weighted sum of candidates, unless one candidate has less loss on held-out"
        " queries by more than a standard error; `simple`: one candidate, unless the sum has",
    )
    candidates: list[CandidateName] | None = Field(
        None,
        min_length=1,
        max_length=100,
        description="Names of the candidates to try, as the leaderboard of a job lists them; all when null",
        examples=[["trees by lambdarank", "linear by ranknet"]],
    )
    seed: Seed = 42
    allow_absent_features: AllowAbsentFeatures = False


class AutoTrainRequest(AutomaticTrainingRequest):
    """Find the best model for a dataset automatically, and train it as a new version."""

    dataset_id: Id = Field(description="A ready dataset to train on, with at least two queries")
    test_dataset_id: Id | None = Field(
        None,
        description="Another ready dataset, on which the final model is evaluated once, and whose documents"
        " it ranks",
    )
