"""Schemas of losses, of scorers, of declared parameters and of distributed trainings."""

import types
import typing
from functools import reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from app.http.schemas import RequestModel, ResponseModel
from core.losses import LOSSES
from core.parameters import FORMS, GroupsOfNames, Names, Parameter, WholeNumbers, parameters_of, suggestion
from core.scorers import SCORERS
from core.training.distribution import DEFAULT_MAX_RANKS, MAX_RANKS, MAX_THREADS, MIN_RANKS

_TYPE_NAMES = {
    float: "number",
    int: "integer",
    bool: "boolean",
    str: "text",
    list: "list",
    tuple: "list",
    dict: "object",
}
_WRONG_TYPES = frozenset({"dict_type", "list_type", "string_type", "too_short"})
_MAX_NAME_LENGTH = 1_024  # maximum length of a feature name


class ParameterDescription(ResponseModel):
    """One hyperparameter: its type, default, bounds and meaning."""

    name: str = Field(description="As written in requests", examples=["truncation_level"])
    type: str = Field(description="number, integer, boolean, text, list or object", examples=["integer"])
    optional: bool = Field(
        description="Whether null is allowed; null disables the parameter unless its description says"
        " otherwise",
        examples=[True],
    )
    default: Any = Field(description="Default value", examples=[None])
    minimum: float | None = Field(description="Lower bound", examples=[1])
    exclusive_minimum: bool = Field(
        description="Whether the lower bound itself is excluded", examples=[False]
    )
    maximum: float | None = Field(description="Inclusive upper bound", examples=[None])
    choices: list[str] = Field(
        description="Allowed values of a text parameter; empty for other types", examples=[[]]
    )
    description: str = Field(
        description="Effect of the parameter", examples=["Keep pairs with a document in the top τ."]
    )


class ParametersRequest(RequestModel):
    """Base of requests with declared parameters.

    Errors for unknown names suggest similar names, and errors for values by name have an example.
    """

    declared_by: ClassVar[type]

    @model_validator(mode="wrap")
    @classmethod
    def _suggest_names(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(value)
        except ValidationError as error:
            problems = [cls._with_remedy(problem) for problem in error.errors(include_url=False)]
            raise ValidationError.from_exception_data(cls.__name__, problems) from None

    @classmethod
    def _with_remedy(cls, problem: ErrorDetails) -> InitErrorDetails:
        kind: str | PydanticCustomError = problem["type"]
        name = str(problem["loc"][0]) if problem["loc"] else ""
        if kind == "extra_forbidden" and (meant := suggestion(cls.declared_by, name)):
            kind = PydanticCustomError("unknown_name", "unknown field; {meant}", {"meant": meant})
        elif kind in _WRONG_TYPES and (form := _forms_of_names(cls.declared_by).get(name)):
            kind = PydanticCustomError("by_name", "{form}", {"form": form})
        return InitErrorDetails(
            type=kind, loc=problem["loc"], input=problem["input"], ctx=problem.get("ctx", {})
        )


def _forms_of_names(cls: type) -> dict[str, str]:
    """Return the form of each parameter whose values are by name."""
    return {p.name: FORMS[p.type] for p in parameters_of(cls) if p.type in FORMS}


def request_model(model_name: str, cls: type, documentation: str, **extra: Any) -> type[RequestModel]:
    """Derive the request model of a dataclass whose fields are `parameter()` declarations.

    Args:
        model_name: Name of the model, as it appears in the OpenAPI document.
        **extra: Further fields, in pydantic's `(annotation, Field(...))` form, put first.
    """
    model: type[ParametersRequest] = create_model(
        model_name, __base__=ParametersRequest, __doc__=documentation, **{**extra, **declared_fields(cls)}
    )
    model.declared_by = cls
    return model


def declared_fields(cls: type) -> dict[str, Any]:
    """Return the fields of the `parameter()` declarations of a dataclass, as `create_model` takes them."""
    return {p.name: (_annotation(p), _field(p)) for p in parameters_of(cls)}


def describe(cls: type) -> list[ParameterDescription]:
    """Describe the hyperparameters of a dataclass for the catalogue."""
    return [
        ParameterDescription(
            name=p.name,
            type=" or ".join(dict.fromkeys(_type_name(member) for member in _union_members(p.type))),
            optional=p.optional,
            default=p.default,
            minimum=p.minimum,
            exclusive_minimum=p.above,
            maximum=p.maximum,
            choices=list(p.choices),
            description=p.description,
        )
        for p in parameters_of(cls)
    ]


FeatureName = Annotated[str, Field(max_length=_MAX_NAME_LENGTH)]


def _annotation(parameter: Parameter) -> Any:
    members = tuple(_member_annotation(member, parameter) for member in _union_members(parameter.type))
    annotation: Any = typing.Union[members]  # noqa: UP007 - built at run time
    return annotation | None if parameter.optional else annotation


def _member_annotation(member: Any, parameter: Parameter) -> Any:
    if member is str and parameter.choices:
        return Literal[parameter.choices]
    if member in (int, float):
        return Annotated[member, _bounds(parameter)]
    if member is GroupsOfNames:
        return list[Annotated[list[FeatureName], Field(min_length=1)]]
    if typing.get_origin(member) is dict:
        return dict[FeatureName, _member_annotation(typing.get_args(member)[1], parameter)]  # type: ignore[misc]
    if member == WholeNumbers:
        return Annotated[list[Annotated[int, _bounds(parameter)]], Field(min_length=1, max_length=1_000)]
    if member == Names:
        return Annotated[list[FeatureName], Field(max_length=1_000)]
    if typing.get_origin(member) is tuple:  # JSON has arrays only
        return list[typing.get_args(member)[0]]  # type: ignore[misc] # built at run time
    return member


def _bounds(parameter: Parameter) -> FieldInfo:
    low, high = parameter.minimum, parameter.maximum
    bounds: FieldInfo = Field(gt=low, le=high) if parameter.above else Field(ge=low, le=high)
    return bounds


def _field(parameter: Parameter) -> FieldInfo:
    default: Any = parameter.default
    if isinstance(default, tuple):  # JSON has arrays only
        default = list(default)
    field: FieldInfo = Field(default=default, description=parameter.description)
    return field


def _union_members(type_: Any) -> tuple[Any, ...]:
    if isinstance(type_, types.UnionType) or typing.get_origin(type_) is typing.Union:
        return typing.get_args(type_)
    return (type_,)


def _type_name(type_: Any) -> str:
    return _TYPE_NAMES.get(typing.get_origin(type_) or type_, "value")


def _loss_request(name: str) -> type[RequestModel]:
    loss = LOSSES[name]
    tag = (Literal[name], Field(description=loss.summary))
    return request_model(
        f"{loss.__name__}Request", loss, f"{loss.summary}: {loss.formula}. {loss.source}.", name=tag
    )


# Any of the losses, discriminated by `name`.
LossRequest: Any = Annotated[reduce(or_, map(_loss_request, LOSSES)), Field(discriminator="name")]


def _scorer_request(kind: str) -> type[RequestModel]:
    scorer = SCORERS[kind]
    tag = (Literal[kind], Field(description=scorer.summary))
    return request_model(f"{scorer.__name__}Scorer", scorer, f"{scorer.summary}.", kind=tag)


# Any of the scorers, discriminated by `kind`.
ScorerRequest: Any = Annotated[reduce(or_, map(_scorer_request, SCORERS)), Field(discriminator="kind")]


class LossDescription(ResponseModel):
    """A loss in the catalogue."""

    name: str = Field(description="As written in requests", examples=["ndcg-loss2++"])
    summary: str = Field(description="One-line summary", examples=["Tighter bound on the NDCG cost"])
    formula: str = Field(description="The loss as computed", examples=["Σ w ln(1 + e^{−σ(s_i − s_j)})"])
    source: str = Field(description="Publication of the loss", examples=["Wang et al. 2018, eq. 19"])
    choose: str = Field(description="When to choose it", examples=["NDCG is the target metric"])
    parameters: list[ParameterDescription] = Field(description="Hyperparameters of the loss")


class LossCatalogue(ResponseModel):
    """All losses that a training job may name."""

    items: list[LossDescription]


class ScorerDescription(ResponseModel):
    """A kind of scorer in the catalogue."""

    kind: str = Field(description="As written in requests", examples=["mlp"])
    summary: str = Field(description="One-line summary", examples=["Feed-forward network"])
    is_network: bool = Field(
        description="Whether it is trained in epochs: true for networks and linear scorers, false for trees"
        " and sums",
        examples=[True],
    )
    parameters: list[ParameterDescription] = Field(
        description="Hyperparameters that a job sets in `scorer`; empty for trees, whose hyperparameters a"
        " job sets in `hyperparameters`"
    )


class ScorerCatalogue(ResponseModel):
    """All kinds of scorers that a training job may train."""

    items: list[ScorerDescription]


class RanksRequest(RequestModel):
    """Number of processes that train a model together."""

    at_least: int = Field(
        MIN_RANKS,
        ge=MIN_RANKS,
        le=MAX_RANKS,
        description="Minimum number of ranks: with fewer, the training does not start or continue",
        examples=[2],
    )
    at_most: int = Field(
        DEFAULT_MAX_RANKS,
        ge=MIN_RANKS,
        le=MAX_RANKS,
        description="Maximum number of ranks, not below `at_least`",
        examples=[8],
    )


class DistributionRequest(RequestModel):
    """Train on several machines or processes, the ranks; their number does not change the model."""

    ranks: RanksRequest = Field(default_factory=RanksRequest)
    threads_per_rank: int = Field(1, ge=1, le=MAX_THREADS, description="Threads of each rank", examples=[4])


def _refuse_distribution(value: Any) -> None:
    if value is not None:
        raise PydanticCustomError(
            "not_distributed",
            "can only be used for single trainings; studies and experiments train each model in one process",
        )


class UndistributedRequest(RequestModel):
    """Base of requests that start many trainings, none of which is distributed."""

    distribution: Annotated[SkipJsonSchema[None], BeforeValidator(_refuse_distribution)] = Field(
        None, exclude=True
    )


class RankProgress(ResponseModel):
    """Progress of one rank of a distributed training."""

    rank: int = Field(description="From 0", examples=[0])
    host: str = Field(description="Machine that the rank runs on", examples=["10.0.0.12"])
    queries: int | None = Field(None, description="Training queries that the rank stores", examples=[3784])
    documents: int | None = Field(None, description="Documents of these queries", examples=[453_120])
    memory_bytes: int | None = Field(None, description="Current memory of the rank", examples=[412_090_368])
    peak_memory_bytes: int | None = Field(
        None, description="Peak memory of the rank's process, including shared memory", examples=[498_073_600]
    )
    sent_bytes: int | None = Field(
        None, description="Bytes that the rank has sent to other ranks", examples=[31_457_280]
    )
    waiting_share: float | None = Field(
        None, description="Share of time that the rank waited for other ranks, from 0 to 1", examples=[0.12]
    )
    stage: str = Field("", description="Current stage of the rank", examples=["training"])
