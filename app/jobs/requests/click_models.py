"""Requests to estimate click models of a log, and to derive judgments from a click model."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, create_model
from typing_extensions import TypeAliasType

from app.http.schemas import DisplayName, Id
from app.jobs.parameter_schemas import ParametersRequest, declared_fields, request_model
from app.jobs.requests.fields import QueuedRequest
from core.clicks.judgment_options import JudgmentSpec
from core.clicks.models.specification import MODELS, ClickModelSpec

# A named type: client generators would call this enumeration `Model`.
ClickModelName = TypeAliasType(
    "ClickModelName", Literal["ctr", "coec", "cascade", "dcm", "pbm", "ubm", "sdbn", "dbn"]
)
_DeclaredOptions = create_model(
    "_DeclaredOptions", __base__=ParametersRequest, **declared_fields(ClickModelSpec)
)
JudgmentOptions: Any = request_model("JudgmentOptions", JudgmentSpec, "The grading of documents.")
_ClickLogId = Annotated[Id, Field(description="A ready click log")]


class ClickModelOptions(_DeclaredOptions):
    """A click model and its options."""

    declared_by: ClassVar[type] = ClickModelSpec
    model: ClickModelName = Field("pbm", description="The click model")


class ClickModelRequest(QueuedRequest):
    """Estimate click models of a log and compare them on held-out lists."""

    kind: Literal["click-model"]
    click_log_id: _ClickLogId
    models: list[ClickModelName] = Field(
        ["pbm"],
        min_length=1,
        max_length=len(MODELS),
        description="Click models to compare; the best on held-out lists is then estimated from all lists",
        examples=[["pbm", "dbn"]],
    )
    options: ClickModelOptions = Field(
        default_factory=ClickModelOptions, description="Options that the models share; `model` has no effect"
    )
    held_out: float = Field(
        0.2,
        gt=0,
        lt=1,
        description="Share of users to hold out for the comparison; share of lists if the log has no users",
    )


class JudgeRequest(QueuedRequest):
    """Grade documents by a click model, and join the grades with features as a dataset."""

    kind: Literal["judge"]
    click_log_id: _ClickLogId
    features_dataset_id: Id = Field(
        description="A ready dataset with the features of the log's documents, joined by ids; its labels"
        " are replaced"
    )
    dataset_name: DisplayName | None = Field(
        None, description="Name of the new dataset; the name of the log when null"
    )
    judged_dataset_id: Id | None = Field(
        None, description="A judged dataset to compare the grades with: kappa and Kendall's tau"
    )
    options: ClickModelOptions = Field(default_factory=ClickModelOptions)
    judgments: JudgmentOptions = Field(default_factory=JudgmentOptions)
    unjudged: Literal["drop", "zero"] = Field(
        "drop",
        description="Documents without a grade: `drop` omits them, `zero` labels them 0 in queries with a"
        " grade",
    )
