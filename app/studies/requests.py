"""Requests that submit and change studies."""

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from app.datasets.hold_out_schemas import HoldOut, LabelMap, RandomFolds, Validation
from app.http.labels import NewProject
from app.http.schemas import Id, ModelName, NameForPeople, RequestModel
from app.jobs.contract_schemas import Contract
from app.jobs.distribution_schemas import UndistributedRequest
from app.jobs.parameter_schemas import LossRequest, ScorerRequest
from app.jobs.requests.fields import MetricName, Priority, Seed
from app.jobs.requests.training import (
    MAX_ROUNDS,
    FeatureChoiceRequest,
    HyperparametersOrAuto,
    HyperparametersRequest,
)
from core.studies.search_space import MAX_DIMENSIONS

MAX_TRIALS = 10_000
MAX_PARALLEL = 64

_Pointer = Annotated[str, Field(max_length=200)]
_When = Annotated[
    dict[_Pointer, list[JsonValue]],
    Field(
        max_length=8,
        description="Values that other parts of the specification must have, by pointer; else it is left out",
        examples=[{"/loss/name": ["ndcg-loss2++"]}],
    ),
]


class FloatParameter(RequestModel):
    """A number within bounds."""

    type: Literal["float"]
    low: float = Field(description="Least value", examples=[0.01])
    high: float = Field(description="Greatest value", examples=[0.3])
    log: bool = Field(False, description="Draw evenly by the logarithm")
    step: float | None = Field(None, description="Distance between values; a grid needs one")
    when: _When = Field(default_factory=dict)


class IntParameter(RequestModel):
    """A whole number within bounds."""

    type: Literal["int"]
    low: int = Field(ge=-(2**31), le=2**31, description="Least value", examples=[4])
    high: int = Field(ge=-(2**31), le=2**31, description="Greatest value", examples=[64])
    log: bool = Field(False, description="Draw evenly by the logarithm")
    step: int | None = Field(None, ge=1, le=2**31, description="Distance between values; 1 when null")
    when: _When = Field(default_factory=dict)


class ChoiceParameter(RequestModel):
    """A choice of values: numbers, texts, or whole losses."""

    type: Literal["choice"]
    choices: list[JsonValue] = Field(min_length=1, max_length=100, examples=[["lambdarank", "ranknet"]])
    when: _When = Field(default_factory=dict)


SearchParameter = Annotated[FloatParameter | IntParameter | ChoiceParameter, Field(discriminator="type")]


class ObjectiveRequest(RequestModel):
    """Objective of a study."""

    metric: MetricName = Field("ndcg@10", description="Its mean over queries; its direction is known")
    validation: Validation = Field(
        default_factory=lambda: RandomFolds(folds=5),
        description="Folds, or one hold-out as a training job has it",
        examples=[{"folds": 5}],
    )


class BudgetRequest(RequestModel):
    """Budget of a study, which ends at the first bound that is reached."""

    trials: int = Field(50, ge=1, le=MAX_TRIALS, description="Trials at most, the default among them")
    seconds: float | None = Field(
        None, gt=0, le=31_536_000, description="Time after which no further trial is started", examples=[3600]
    )
    patience: int | None = Field(
        None, ge=1, le=MAX_TRIALS, description="Trials without a new best one that end it", examples=[20]
    )


class StudyBaseRequest(UndistributedRequest):
    """The training that trials vary; unchanged, it is trial 0, the default."""

    loss: LossRequest
    scorer: ScorerRequest | None = Field(
        None, description="As of a training job; trees when null. A sum learns nothing, so it is refused"
    )
    hyperparameters: HyperparametersOrAuto = Field(default_factory=HyperparametersRequest)
    early_stopping_rounds: int | None = Field(
        None,
        ge=1,
        le=MAX_ROUNDS,
        description="Iterations without a better objective that end a fold; all are grown when null",
        examples=[30],
    )
    label_map: LabelMap = Field(default_factory=dict)
    features: FeatureChoiceRequest | None = Field(None, description="All when null")
    categorical_feature: list[Annotated[str, Field(max_length=1000)]] = Field(
        default_factory=list, max_length=100_000, description="Features of whole numbers that are categories"
    )
    contract: Contract = "default"


class TuningRequest(UndistributedRequest):
    """Fields of all requests to tune a training, except for their datasets."""

    name: NameForPeople = Field(description="For people; need not be unique", examples=["leaves and rate"])
    model_name: ModelName
    test: HoldOut | None = Field(
        None, description="Queries that no trial sees; winner and default are compared on them once"
    )
    base: StudyBaseRequest
    search_space: dict[_Pointer, SearchParameter] = Field(
        min_length=1,
        max_length=MAX_DIMENSIONS,
        description="Parameters by JSON pointer into the base: `/hyperparameters/…`, `/scorer/…`, `/loss/…`"
        " or `/loss`",
    )
    objective: ObjectiveRequest = Field(default_factory=ObjectiveRequest)
    sampler: Literal["tpe", "random", "grid", "qmc"] = Field(
        "tpe", description="`tpe` learns from the trials so far; `grid` tries every combination once"
    )
    pruner: Literal["wilcoxon", "median", "none"] = Field(
        "wilcoxon",
        description="`wilcoxon` stops a trial after a fold if its queries are significantly worse than those"
        " of the best trial; `median` within the first fold if it is below the median of earlier trials",
    )
    budget: BudgetRequest = Field(default_factory=BudgetRequest)
    parallel_trials: int = Field(
        1, ge=1, le=MAX_PARALLEL, description="Trials that are queued or run at a time"
    )
    priority: Priority = Field("normal", description="Of its jobs")
    seed: Seed = 42
    alias: str | None = Field(
        None,
        max_length=100,
        description="Alias of the model to point at the winner if it is shown to be better than the default",
        examples=["champion"],
    )
    project: NewProject = None


class StudyRequest(TuningRequest):
    """Tune a training: many trials, one conclusion on held-out queries."""

    dataset_id: Id = Field(description="A ready dataset to learn from")
    test_dataset_id: Id | None = Field(None, description="Instead of `test`, another ready dataset")


class HandTrialRequest(RequestModel):
    """A trial with given parameters."""

    parameters: dict[_Pointer, JsonValue] = Field(
        max_length=MAX_DIMENSIONS, description="A value of each active parameter of the search space"
    )


class StudyChanges(RequestModel):
    """Changes of a study's budget; omitted fields stay."""

    trials: int | None = Field(None, ge=1, le=MAX_TRIALS, description="Trials at most")
    seconds: float | None = Field(None, gt=0, le=31_536_000, description="Null for no bound")
    patience: int | None = Field(None, ge=1, le=MAX_TRIALS, description="Null for no bound")
    parallel_trials: int | None = Field(None, ge=1, le=MAX_PARALLEL)


class CloneRequest(RequestModel):
    """A new study with the specification of another study, except for the given fields."""

    name: NameForPeople | None = Field(None, description="That of the other one when null")
    sampler: Literal["tpe", "random", "grid", "qmc"] | None = None
    pruner: Literal["wilcoxon", "median", "none"] | None = None
    budget: BudgetRequest | None = None
    parallel_trials: int | None = Field(None, ge=1, le=MAX_PARALLEL)
    seed: Seed | None = None
    test: HoldOut | None = Field(
        None, description="Other held-out queries: a look at the same ones again is not a fresh one"
    )


STUDY_EXAMPLES: Any = {
    "tune": {
        "summary": "Tune leaves, learning rate and the loss by 5-fold cross-validation",
        "value": {
            "name": "leaves, rate and loss",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "test": {"fraction": 0.2},
            "base": {"loss": {"name": "lambdarank"}, "hyperparameters": {"num_iterations": 300}},
            "search_space": {
                "/hyperparameters/num_leaves": {"type": "int", "low": 4, "high": 64, "log": True},
                "/hyperparameters/learning_rate": {"type": "float", "low": 0.02, "high": 0.3, "log": True},
                "/loss": {
                    "type": "choice",
                    "choices": [{"name": "lambdarank"}, {"name": "ndcg-loss2++"}],
                },
                "/loss/mu": {
                    "type": "float",
                    "low": 1.0,
                    "high": 20.0,
                    "when": {"/loss/name": ["ndcg-loss2++"]},
                },
            },
            "objective": {"metric": "ndcg@10", "validation": {"folds": 5}},
            "budget": {"trials": 50},
            "parallel_trials": 2,
        },
    },
    "grid": {
        "summary": "Try every combination, validated on a fifth of the queries",
        "value": {
            "name": "grid",
            "model_name": "web",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "test_dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
            "base": {"loss": {"name": "lambdarank"}},
            "search_space": {
                "/hyperparameters/num_leaves": {"type": "choice", "choices": [7, 15, 31]},
                "/hyperparameters/min_data_in_leaf": {"type": "choice", "choices": [20, 50]},
            },
            "objective": {"metric": "ndcg@10", "validation": {"fraction": 0.2}},
            "sampler": "grid",
            "pruner": "none",
        },
    },
}
TRIAL_EXAMPLES: Any = {
    "hand": {
        "summary": "Seven leaves",
        "value": {"parameters": {"/hyperparameters/num_leaves": 7, "/hyperparameters/learning_rate": 0.05}},
    }
}
CHANGE_EXAMPLES: Any = {"extend": {"summary": "Extend the budget", "value": {"trials": 100}}}
CLONE_EXAMPLES: Any = {
    "longer": {"summary": "With more trials", "value": {"budget": {"trials": 200}, "seed": 7}}
}
