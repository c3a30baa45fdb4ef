"""Requests and responses of aliases, their history and their gates."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from app.datasets.hold_out_schemas import LabelMap
from app.evaluation.schemas import CONTRACT_EXAMPLE
from app.http.schemas import Id, Json, PageModel, RequestModel, ResponseModel, example
from app.jobs.contract_schemas import Contract, NamedConventions
from app.jobs.requests.clicks import EstimationRequest
from app.jobs.requests.fields import MetricName, Permutations, Seed
from core.store import AliasGate, ModelAlias

_GATE_EXAMPLE: Json = {
    "name": "web",
    "alias": "champion",
    "dataset_id": "ds_01k9x2m4q7c8v5n3b6r3",
    "metric": "ndcg@10",
    "require": "not_worse",
    "p": 0.05,
    "max_slice_drop": 0.02,
    "min_slice_queries": 30,
    "better_than_baselines": False,
    "interleaving": None,
    "counterfactual": None,
    "contract": CONTRACT_EXAMPLE,
    "label_map": {},
    "permutations": 100_000,
    "seed": 42,
    "key_id": "key_01k9x2m4q7c8v5n3b6r9",
    "updated_at": "2026-01-05T10:02:11Z",
}


class AliasRequest(RequestModel):
    """A request to point an alias at a version."""

    version: int = Field(ge=1, le=2**31 - 1, description="An existing version of the name", examples=[3])


class Alias(ResponseModel):
    """A movable name for one version of a model."""

    model_config = example(
        {
            "name": "web",
            "alias": "champion",
            "version": 3,
            "model_id": "mdl_01k9x3a7d5f8g2h4j6k9",
            "gated": True,
            "updated_at": "2026-01-05T10:02:11Z",
        }
    )

    name: str
    alias: str
    version: int
    model_id: str
    gated: bool = Field(description="Whether the alias has a promotion gate")
    updated_at: datetime = Field(description="Time of the last move")

    @classmethod
    def of(cls, row: ModelAlias, gated: bool) -> "Alias":
        """Return the response of a stored alias."""
        return cls.model_validate({**row.column_values(), "version": row.model.version, "gated": gated})


class AliasList(ResponseModel):
    """The aliases of a name, in alphabetical order."""

    items: list[Alias]
    gates_without_version: list[str] = Field(
        default_factory=list,
        description="Aliases with a gate that point at no version, in alphabetical order; absent if none",
        exclude_if=lambda aliases: not aliases,
    )


class AliasMove(ResponseModel):
    """A move of an alias, or a refused move."""

    model_config = example(
        {
            "id": "mov_01k9x3a7d5f8g2h4j6k9",
            "kind": "refused",
            "from_version": 3,
            "to_version": 4,
            "key_id": "key_01k9x2m4q7c8v5n3b6r9",
            "job_id": "job_01k9x2z4q7c8v5n3b6r1",
            "report": {
                "admitted": False,
                "sentence": "web:4 is worse than web:3 by ndcg@10: 0.4120 against 0.4310, p = 0.0030,"
                " over 600 queries",
            },
            "at": "2026-01-05T10:02:11Z",
        }
    )

    id: str
    kind: Literal["moved", "promoted", "refused", "rolled_back", "removed"] = Field(
        description="`promoted` and `refused` are decisions of a gate; the other moves bypass the gate"
    )
    from_version: int | None = Field(description="Version before the move; null for none")
    to_version: int | None = Field(description="Requested version; null for none")
    key_id: str | None = Field(description="API key that requested the move; null without authentication")
    job_id: str | None = Field(
        description="Job that compared the two versions for a gate; null without a gate"
    )
    report: Json | None = Field(
        description="The gate's report: `admitted`, `sentence`, `paired` (B is the challenger), `slices`,"
        " `findings`, `rule`, and `counterfactual`, the same object as the result of a counterfactual job"
    )
    at: datetime


class AliasHistory(PageModel):
    """A page of an alias's history, newest first."""

    items: list[AliasMove]


class CounterfactualRule(EstimationRequest):
    """The difference that a counterfactual estimate of both versions must show."""

    margin: float = Field(
        0.0,
        ge=0,
        le=1e12,
        description="Non-inferiority margin: the 95% interval of the difference must lie above −`margin`; 0"
        " requires a better version",
        examples=[0.01],
    )


class GateRequest(RequestModel):
    """A promotion gate: the comparison that a version must pass before the alias moves."""

    dataset_id: Id | None = Field(
        None,
        description="A ready dataset that the two versions are compared on; null where clicks alone decide",
    )
    metric: MetricName | None = Field(
        None,
        description="Name of a metric as listed by `GET /v1/metrics`; required with `dataset_id`",
        examples=["ndcg@10"],
    )
    require: Literal["not_worse", "better"] = Field(
        "not_worse",
        description="`better`: significantly better than the alias's version; `not_worse`: not"
        " significantly worse",
    )
    p: float = Field(
        0.05,
        gt=0,
        le=1,
        description="Significance level: differences are significant if Fisher's randomisation test has a"
        " lower p-value",
    )
    max_slice_drop: float | None = Field(
        None,
        ge=0,
        le=1_000_000,
        description="Maximum deterioration of the mean in a segment of the queries; null for no limit",
        examples=[0.02],
    )
    min_slice_queries: int = Field(
        30,
        ge=1,
        le=1_000_000_000,
        description="Minimum number of queries of a segment; smaller segments are ignored",
    )
    better_than_baselines: bool = Field(
        False,
        description="Whether a version must also beat a random order, the input order and the best single"
        " feature",
    )
    interleaving: Literal["not_worse", "better"] | None = Field(
        None,
        description="Required verdict of the newest interleaving of both versions. `better`: users prefer the"
        " new version; `not_worse`: they do not prefer the alias's version",
    )
    counterfactual: CounterfactualRule | None = Field(
        None,
        description="Counterfactual estimate that the version must pass. A version with too little support in"
        " the log is refused",
    )
    contract: Contract = "default"
    label_map: LabelMap = Field(default_factory=dict)
    permutations: Permutations = 100_000
    seed: Seed = 42


class Gate(ResponseModel):
    """A promotion gate: the comparison that a version must pass before the alias moves."""

    model_config = example(_GATE_EXAMPLE)

    name: str
    alias: str
    dataset_id: str | None = Field(description="Dataset of the comparison; null where clicks alone decide")
    metric: str | None
    require: Literal["not_worse", "better"]
    p: float
    max_slice_drop: float | None
    min_slice_queries: int
    better_than_baselines: bool = False
    interleaving: Literal["not_worse", "better"] | None = None
    counterfactual: CounterfactualRule | None = None
    contract: NamedConventions
    label_map: dict[str, float]
    permutations: int
    seed: int
    key_id: str | None = Field(description="API key that set the gate; null without authentication")
    updated_at: datetime

    @classmethod
    def of(cls, row: AliasGate) -> "Gate":
        """Return the response of a stored gate."""
        return cls.model_validate({**row.column_values(), **row.rule})
