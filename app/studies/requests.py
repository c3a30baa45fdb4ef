"""Requests that submit and change studies."""

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from app.datasets.hold_out_schemas import HoldOut, LabelMap, RandomFolds, Validation
from app.http.labels import NewProject
from app.http.schemas import Id, ModelName, RequestModel, VisibleText
from app.jobs.contract_schemas import Contract
from app.jobs.parameter_schemas import FeatureName, LossRequest, ScorerRequest, UndistributedRequest
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
        description="Condition: values of other fields by JSON pointer. This parameter is used only if each"
        " of these fields has one of its listed values",
        examples=[{"/loss/name": ["ndcg-loss2++"]}],
    ),
]

Sampler = Literal["tpe", "random", "grid", "qmc"]
Pruner = Literal["wilcoxon", "median", "none"]


class FloatParameter(RequestModel):
    """A number within bounds."""

    type: Literal["float"]
    low: float = Field(description="Smallest value", examples=[0.01])
    high: float = Field(description="Largest value", examples=[0.3])
    log: bool = Field(False, description="Sample uniformly on a logarithmic scale")
    step: float | None = Field(None, description="Distance between values; required for a grid")
    when: _When = Field(default_factory=dict)


class IntParameter(RequestModel):
    """A whole number within bounds."""

    type: Literal["int"]
    low: int = Field(ge=-(2**31), le=2**31, description="Smallest value", examples=[4])
    high: int = Field(ge=-(2**31), le=2**31, description="Largest value", examples=[64])
    log: bool = Field(False, description="Sample uniformly on a logarithmic scale")
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

    metric: MetricName = Field("ndcg@10", description="Metric whose mean over queries is optimised")
    validation: Validation = Field(
        default_factory=lambda: RandomFolds(folds=5),
        description="Folds, or a hold-out as in a training request",
        examples=[{"folds": 5}],
    )


class BudgetRequest(RequestModel):
    """Budget of a study, which ends at the first bound that is reached."""

    trials: int = Field(
        50, ge=1, le=MAX_TRIALS, description="Maximum number of trials, including the default"
    )
    seconds: float | None = Field(
        None,
        gt=0,
        le=31_536_000,
        description="Time since the first trial, without pauses, after which no further trial is queued",
        examples=[3600],
    )
    patience: int | None = Field(
        None,
        ge=1,
        le=MAX_TRIALS,
        description="Number of trials without improvement after which the study ends",
        examples=[20],
    )


class StudyBaseRequest(UndistributedRequest):
    """The training that trials vary; unchanged, it is trial 0, the default."""

    loss: LossRequest
    scorer: ScorerRequest | None = Field(
        None, description="Scorer, as in a training request; trees when null. A sum of models cannot be tuned"
    )
    hyperparameters: HyperparametersOrAuto = Field(default_factory=HyperparametersRequest)
    early_stopping_rounds: int | None = Field(
        None,
        ge=1,
        le=MAX_ROUNDS,
        description="Iterations without improvement after which a fold ends; no early stopping when null",
        examples=[30],
    )
    label_map: LabelMap = Field(default_factory=dict)
    features: FeatureChoiceRequest | None = Field(None, description="Features to use; all when null")
    categorical_feature: list[FeatureName] = Field(
        default_factory=list, max_length=100_000, description="Integer features to treat as categories"
    )
    contract: Contract = "default"


class TuningRequest(UndistributedRequest):
    """Fields of all requests to tune a training, except for their datasets."""

    name: VisibleText = Field(description="Display name; need not be unique", examples=["leaves and rate"])
    model_name: ModelName
    test: HoldOut | None = Field(
        None, description="Queries held out from all trials, on which winner and default are compared once"
    )
    base: StudyBaseRequest
    search_space: dict[_Pointer, SearchParameter] = Field(
        min_length=1,
        max_length=MAX_DIMENSIONS,
        description="Parameters by JSON pointer into the base: `/hyperparameters/…`, `/scorer/…`, `/loss/…`"
        " or `/loss`",
    )
    objective: ObjectiveRequest = Field(default_factory=ObjectiveRequest)
    sampler: Sampler = Field(
        "tpe", description="`tpe` learns from the trials so far; `grid` tries every combination once"
    )
    pruner: Pruner = Field(
        "wilcoxon",
        description="`wilcoxon` stops a trial after a fold if the trial is significantly worse than the best"
        " trial on the queries so far; `median` stops it during the first fold if its value is worse than the"
        " median of earlier trials",
    )
    budget: BudgetRequest = Field(default_factory=BudgetRequest)
    parallel_trials: int = Field(
        1, ge=1, le=MAX_PARALLEL, description="Trials that are queued or run at a time"
    )
    priority: Priority = Field("normal", description="Priority of the study's jobs")
    seed: Seed = 42
    alias: str | None = Field(
        None,
        max_length=100,
        description="Alias to move to the winner if it is significantly better than the default",
        examples=["champion"],
    )
    project: NewProject = None


class StudyRequest(TuningRequest):
    """Tune a training: many trials, one conclusion on held-out queries."""

    dataset_id: Id = Field(description="A ready dataset to train on")
    test_dataset_id: Id | None = Field(
        None, description="Another ready dataset to test on, instead of `test`"
    )


class HandTrialRequest(RequestModel):
    """A trial with given parameters."""

    parameters: dict[_Pointer, JsonValue] = Field(
        max_length=MAX_DIMENSIONS, description="A value of each active parameter of the search space"
    )


class StudyChanges(RequestModel):
    """Changes of a study's budget; omitted fields stay."""

    trials: int | None = Field(None, ge=1, le=MAX_TRIALS, description="Maximum number of trials")
    seconds: float | None = Field(None, gt=0, le=31_536_000, description="Time limit; null for no limit")
    patience: int | None = Field(
        None, ge=1, le=MAX_TRIALS, description="Trials without improvement; null for no limit"
    )
    parallel_trials: int | None = Field(None, ge=1, le=MAX_PARALLEL)


class CloneRequest(RequestModel):
    """A new study with the specification of another study, except for the given fields."""

    name: VisibleText | None = Field(
        None, description="Name of the new study; the name of the cloned study when null"
    )
    sampler: Sampler | None = None
    pruner: Pruner | None = None
    budget: BudgetRequest | None = Field(
        None, description="Changes of the cloned study's budget; omitted fields stay"
    )
    parallel_trials: int | None = Field(None, ge=1, le=MAX_PARALLEL)
    seed: Seed | None = None
    test: HoldOut | None = Field(
        None, description="Other held-out queries, since a second test on the same queries is not independent"
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
