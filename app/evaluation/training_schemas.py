"""Responses that rank trainings by their validation data."""

from pydantic import Field

from app.evaluation.schemas import Interval
from app.http.schemas import ResponseModel
from app.jobs.schemas import Job


class RankedTraining(ResponseModel):
    """A training in a ranking of trainings."""

    job: Job
    model: str | None = Field(
        description="The model that it made, null before there is one", examples=["web:3"]
    )
    validation: Interval | None = Field(
        description="The metric on the validation data, null if not measured; no interval while it runs"
    )
    test: Interval | None = Field(
        description="The metric on the test data: a final look, not what to choose by; null where it was not"
        " measured there"
    )
    difference: float | None = Field(
        description="Mean minus that of the best one on the same validation queries; null for other queries"
        " or without values",
        examples=[-0.0021],
    )
    p: float | None = Field(
        description="Two-sided p-value of the paired t-test against the best one, adjusted (Holm); null"
        " without `difference`",
        examples=[0.41],
    )
    tied: bool | None = Field(
        description="Whether it is not significantly worse than the best one (p >= 0.05); null if untested",
        examples=[True],
    )


class TrainingRanking(ResponseModel):
    """Trainings, the best one on the validation data first."""

    metric: str | None = Field(description="Null where none of them measured any", examples=["ndcg@10"])
    higher_is_better: bool
    queries: int | None = Field(
        description="Validation queries of the tests; null where nothing was tested", examples=[412]
    )
    sentence: str = Field(
        description="What was tested, and how",
        examples=[
            "Paired t-test against the best over 412 validation queries, adjusted for 59 comparisons (Holm),"
            " at p < 0.05. The same queries chose the best one and its number of iterations, so its lead is"
            " optimistic."
        ],
    )
    items: list[RankedTraining] = Field(description="Those that measured nothing last")
    missing: list[str] = Field(description="Ids that are unknown or not of trainings", examples=[[]])
