"""Responses that rank trainings by their validation data."""

from pydantic import Field

from app.evaluation.schemas import Interval
from app.http.schemas import ResponseModel
from app.jobs.schemas import Job


class RankedTraining(ResponseModel):
    """A training in a ranking of trainings."""

    job: Job
    model: str | None = Field(
        description="Model of the training; null until it is created", examples=["web:3"]
    )
    validation: Interval | None = Field(
        description="Metric on the validation data; null if not measured, without interval while the job runs"
    )
    test: Interval | None = Field(
        description="Metric on the test data, for a final check and not for model selection; null if not"
        " measured"
    )
    difference: float | None = Field(
        description="Mean minus the mean of the best training on the same validation queries; null for other"
        " queries or without values",
        examples=[-0.0021],
    )
    p: float | None = Field(
        description="Two-sided p-value of the paired t-test against the best training, adjusted for all"
        " pairs; null for the best training, and without `difference`",
        examples=[0.41],
    )
    tied: bool | None = Field(
        description="Whether the training is not significantly worse than the best (p >= 0.05); null if"
        " untested",
        examples=[True],
    )


class TrainingRanking(ResponseModel):
    """Trainings, the best one on the validation data first."""

    metric: str | None = Field(
        description="Metric to rank by; null if no training measured one", examples=["ndcg@10"]
    )
    higher_is_better: bool
    queries: int | None = Field(
        description="Number of validation queries of the tests; null without tests", examples=[412]
    )
    sentence: str = Field(
        description="Description of the tests",
        examples=[
            "Paired t-test against the best over 412 validation queries, adjusted for all pairs of 60"
            " trainings, at p < 0.05; fewer than six differing queries are no evidence."
            " The same queries chose the best one and its number of iterations, so its lead is optimistic."
        ],
    )
    items: list[RankedTraining] = Field(description="Trainings, best first; trainings without a value last")
    missing: list[str] = Field(description="Ids that are unknown or not of trainings", examples=[[]])
