"""The leaderboard of an automatic training."""

from typing import Any, Literal

from pydantic import Field

from app.http.schemas import Json, ResponseModel
from core.errors import NotFound
from core.evaluation.paired import Verdict
from core.jobs.auto_train import AutoTrainJob
from core.metrics import parse_metric
from core.store import Candidate as CandidateRow
from core.store import Transaction

_SENTENCE = (
    "the weighted sum of 2 models (trees by lambdarank, linear by ranknet) has ndcg@10 0.4512"
    " [0.4301, 0.4723] on 300 held-out queries: better than LightGBM's default trees (0.4310, p = 0.002)."
)
_INTERVAL = [0.4301, 0.4723]


class AutoTrainMember(ResponseModel):
    """A candidate in the model."""

    name: str = Field(examples=["trees by lambdarank"])
    weight: float = Field(description="Weight of its scaled scores; weights add up to 1", examples=[0.5])


class AutoTrainBaseline(ResponseModel):
    """A ranking that the model of an automatic training is compared with."""

    name: str = Field(examples=["LightGBM's default trees"])
    value: float = Field(description="Mean of the metric for this ranking", examples=[0.4310])
    difference: float = Field(description="Mean of the model minus mean of this ranking", examples=[0.0202])
    p_value: float = Field(
        description="Fisher's randomisation test, two-sided, corrected for all baselines (Holm)",
        examples=[0.002],
    )
    verdict: Verdict = Field(
        description="Verdict on the model compared with this ranking, at the significance level 0.05"
    )


class AutoTrainQuality(ResponseModel):
    """The quality of a model on some queries, compared with baselines."""

    sentence: str = Field(description="Summary of the result in one sentence", examples=[_SENTENCE])
    value: float = Field(description="Mean of the metric", examples=[0.4512])
    interval: list[float] | None = Field(description="95% interval of the mean", examples=[_INTERVAL])
    data: Literal["held-out", "test"] = Field(
        description="`held-out` queries of the training data, each evaluated by models trained and selected"
        " without this query; or queries of the `test` data"
    )
    baselines: list[AutoTrainBaseline]


class AutoTrainConclusion(AutoTrainQuality):
    """The conclusion of an automatic training: the quality of its model, on test data if there are any."""

    held_out: AutoTrainQuality | None = Field(None, description="The quality on held-out queries")
    members: list[AutoTrainMember]
    seconds: dict[str, float] = Field(
        description="Running time by step",
        examples=[{"trials": 240.1, "selection": 1.2, "final trainings": 3.0}],
    )


class AutoTrainCandidate(ResponseModel):
    """A candidate of an automatic training."""

    number: int = Field(description="Position in the portfolio", examples=[0])
    name: str = Field(examples=["trees by lambdarank"])
    loss: Json = Field(examples=[{"name": "lambdarank"}])
    scorer: Json = Field(description="Scorer, as in a training request", examples=[{"kind": "trees"}])
    hyperparameters: Json | None = Field(
        description="Hyperparameters of trees; null for other scorers", examples=[{"num_leaves": 31}]
    )
    status: Literal["queued", "running", "complete", "stopped", "out-of-time", "not-tried"] = Field(
        description="`stopped`: given up before its last fold, since it was significantly worse than the"
        " best candidate"
    )
    reason: str | None = Field(
        description="Why the candidate was stopped or not tried", examples=["the time budget was used up"]
    )
    value: float | None = Field(
        description="Mean of the metric over the queries held out; null before the first fold",
        examples=[0.41],
    )
    interval: list[float] | None = Field(description="95% interval of the value", examples=[[0.38, 0.44]])
    tied_with_best: bool | None = Field(
        description="Whether the best candidate is not significantly better than this one; null until all"
        " are tried"
    )
    folds: int = Field(description="Number of evaluated folds", examples=[7])
    planned_folds: int = Field(
        description="Number of folds to evaluate; 0 until the running time of the first candidate is known",
        examples=[15],
    )
    iterations: int | None = Field(
        description="Best number of trees or epochs over all folds", examples=[240]
    )
    seconds: float = Field(description="Running time of the candidate's trainings", examples=[12.3])
    size_bytes: int | None = Field(
        description="File size of a candidate that is in the model; null for others", examples=[81234]
    )
    weight: float = Field(
        description="Weight of the candidate's scaled scores in the model; 0 if it is not in the model",
        examples=[0.5],
    )


class AutoTrainCandidates(ResponseModel):
    """The candidates of an automatic training, and its conclusion."""

    metric: str = Field(examples=["ndcg@10"])
    higher_is_better: bool
    items: list[AutoTrainCandidate] = Field(
        description="In the order of the portfolio; empty before the job starts"
    )
    conclusion: AutoTrainConclusion | None = Field(description="Null until the job has succeeded")


def candidates_of(tx: Transaction, job_id: str) -> AutoTrainCandidates:
    """Return the leaderboard of an automatic training.

    Raises:
        NotFound: There is no such job, or it is of another kind.
    """
    job = tx.jobs.get(job_id)
    if job.kind != AutoTrainJob.kind:
        raise NotFound("automatic training", job_id)
    metric = AutoTrainJob.from_json(job.spec).metric
    return AutoTrainCandidates(
        metric=metric,
        higher_is_better=parse_metric(metric).higher_is_better,
        items=[AutoTrainCandidate.model_validate(_candidate_values(row)) for row in tx.candidates.of(job_id)],
        conclusion=(job.result or {}).get("conclusion"),
    )


def _candidate_values(row: CandidateRow) -> dict[str, Any]:
    training = row.training
    return row.column_values() | {
        "loss": training["loss"],
        "scorer": training.get("scorer") or {"kind": "trees"},
        "hyperparameters": training.get("hyperparameters"),
    }
