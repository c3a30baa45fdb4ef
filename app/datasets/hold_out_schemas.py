"""Requests to hold queries out of a training, and to replace labels."""

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from app.http.schemas import DisplayName, Id, RequestModel
from core.data.folds import MAX_FOLDS


class HeldOutDataset(RequestModel):
    """Validate on another dataset."""

    dataset_id: Id = Field(
        description="A ready dataset other than the one trained on", examples=["ds_01k9x2m4q7c8v5n3b6r2"]
    )


class NamedDataset(RequestModel):
    """Validate on the newest ready dataset of a name."""

    dataset: DisplayName = Field(examples=["held-out clicks"])


class HeldOutFraction(RequestModel):
    """Hold out a share of the training dataset's queries."""

    fraction: float = Field(gt=0, lt=1, description="Share of the queries to hold out", examples=[0.2])


class HeldOutFold(RequestModel):
    """Hold out one of k parts of equal size of the training dataset's queries."""

    folds: int = Field(ge=2, le=10_000, description="Number of parts, k", examples=[5])
    fold: int = Field(ge=1, le=10_000, description="Number of the held-out part, from 1", examples=[1])


class HeldOutColumn(RequestModel):
    """Hold out the queries with certain values in a column of the training dataset."""

    column: str = Field(max_length=200, description="Name of a query column", examples=["split"])
    values: list[Annotated[str, Field(max_length=1000)]] = Field(
        min_length=1,
        max_length=1000,
        description="Column values of the queries to hold out",
        examples=[["test"]],
    )


class RandomFolds(RequestModel):
    """Hold out each of k parts of equal size of the training dataset's queries once."""

    folds: int = Field(
        ge=2, le=MAX_FOLDS, description="Number of parts, k; one model is trained for each", examples=[5]
    )


class FoldColumn(RequestModel):
    """Hold out each value of a column of the training dataset's queries once."""

    fold_column: str = Field(
        max_length=200,
        description=f"Name of a query column with 2 to {MAX_FOLDS} values, one per fold",
        examples=["fold"],
    )


_HOLD_OUT_FORMS = {"fraction": "held-out-fraction", "folds": "held-out-fold", "column": "held-out-column"}


def tag_by_field(forms: dict[str, str]) -> Any:
    """Return the function that maps a request to the tag of the first field that it has."""

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
        tag_by_field(_HOLD_OUT_FORMS),
        custom_error_type="hold_out_form",
        custom_error_message=f"must be {_HOLD_OUT_MESSAGE}",
    ),
]
_WITHIN_DATASET_FORMS = {
    "fold": "held-out-fold",
    "fold_column": "fold-column",
    **_HOLD_OUT_FORMS,
    "folds": "random-folds",
}
_WithinDatasetForms = (
    Annotated[RandomFolds, Tag("random-folds")] | Annotated[FoldColumn, Tag("fold-column")] | _HoldOutForms
)
_WITHIN_DATASET_MESSAGE = f'{{"folds": 5}}, {{"fold_column": "fold"}}, {_HOLD_OUT_MESSAGE}'
Validation = Annotated[
    Annotated[HeldOutDataset, Tag("held-out-dataset")] | _WithinDatasetForms,
    Discriminator(
        tag_by_field({"dataset_id": "held-out-dataset", **_WITHIN_DATASET_FORMS}),
        custom_error_type="validation_form",
        custom_error_message=f'must be {{"dataset_id": "ds_…"}}, {_WITHIN_DATASET_MESSAGE}',
    ),
]
NamedValidation = Annotated[
    Annotated[NamedDataset, Tag("named-dataset")] | _WithinDatasetForms,
    Discriminator(
        tag_by_field({"dataset": "named-dataset", **_WITHIN_DATASET_FORMS}),
        custom_error_type="named_validation_form",
        custom_error_message=f'must be {{"dataset": "name"}}, {_WITHIN_DATASET_MESSAGE}',
    ),
]
LabelMap = Annotated[
    dict[str, float],
    Field(
        max_length=1000,
        description="New labels by old label, which is written as text; `nan` is a missing label",
        examples=[{"-1": 0, "nan": 0}],
    ),
]
