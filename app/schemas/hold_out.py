"""What a training job holds out of its data, and how it maps labels."""

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from app.schemas.base import Id, RequestModel


class HeldOutDataset(RequestModel):
    """Validate on another dataset."""

    dataset_id: Id = Field(description="A ready dataset other than the one trained on", examples=["ds_…"])


class HeldOutFraction(RequestModel):
    """Hold out a share of the training dataset's queries."""

    fraction: float = Field(gt=0, lt=1, description="Share of the queries to hold out", examples=[0.2])


class HeldOutFold(RequestModel):
    """Hold out one of k parts of equal size of the training dataset's queries."""

    folds: int = Field(ge=2, le=10_000, description="Parts, k", examples=[5])
    fold: int = Field(ge=1, le=10_000, description="The part held out, from 1", examples=[1])


class HeldOutColumn(RequestModel):
    """Hold out the queries with certain values in a column of the training dataset."""

    column: str = Field(max_length=200, description="A column of the queries", examples=["split"])
    values: list[Annotated[str, Field(max_length=1000)]] = Field(
        min_length=1, max_length=1000, description="Values of the queries held out", examples=[["test"]]
    )


HoldOutRequest = HeldOutFraction | HeldOutFold | HeldOutColumn
_HOLD_OUT_FORMS = {"fraction": "held-out-fraction", "folds": "held-out-fold", "column": "held-out-column"}


def _form(forms: dict[str, str]) -> Any:
    def discriminate(value: Any) -> str | None:
        for name, form in forms.items():
            if (isinstance(value, dict) and name in value) or hasattr(value, name):
                return form
        return None

    return discriminate


_HoldOutForms = (
    Annotated[HeldOutFraction, Tag("held-out-fraction")]
    | Annotated[HeldOutFold, Tag("held-out-fold")]
    | Annotated[HeldOutColumn, Tag("held-out-column")]
)
_HOLD_OUT_MESSAGE = '{"fraction": 0.2}, {"folds": 5, "fold": 1} or {"column": "split", "values": ["test"]}'
HoldOut = Annotated[
    _HoldOutForms,
    Discriminator(
        _form(_HOLD_OUT_FORMS),
        custom_error_type="hold_out_form",
        custom_error_message=f"must be {_HOLD_OUT_MESSAGE}",
    ),
]
Validation = Annotated[
    Annotated[HeldOutDataset, Tag("held-out-dataset")] | _HoldOutForms,
    Discriminator(
        _form({"dataset_id": "held-out-dataset", **_HOLD_OUT_FORMS}),
        custom_error_type="validation_form",
        custom_error_message=f'must be {{"dataset_id": "ds_…"}}, {_HOLD_OUT_MESSAGE}',
    ),
]
LabelMap = Annotated[
    dict[str, float],
    Field(
        max_length=1000,
        description="Labels to replace, as text (`nan` is none), and what by",
        examples=[{"-1": 0, "nan": 0}],
    ),
]
