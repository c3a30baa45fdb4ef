"""Labels as they were judged, and as a job wants them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.data.dataset import RankingDataset
from core.errors import InputProblem, InvalidInput
from core.types import Float32Array

LabelMap = Mapping[str, float]
MISSING = "nan"


@dataclass(frozen=True)
class LabelRange:
    """What a job must know of labels before it may use them.

    Attributes:
        minimum: The smallest label, None where none is a number.
        maximum: The largest label, None where none is a number.
        missing: Documents whose label is NaN.
        whole: Whether every label that is a number is a whole one.
    """

    minimum: float | None
    maximum: float | None
    missing: int
    whole: bool

    @classmethod
    def of(cls, labels: Float32Array) -> "LabelRange":
        """Look the labels of a dataset over."""
        judged = labels[~np.isnan(labels)]
        return cls(
            minimum=float(judged.min()) if judged.size else None,
            maximum=float(judged.max()) if judged.size else None,
            missing=int(labels.size - judged.size),
            whole=bool((judged == np.floor(judged)).all()),
        )

    def check(self) -> None:
        """Refuse labels that no loss or metric can use.

        Raises:
            InvalidInput: At `/label_map`, the way out.
        """
        if self.missing:
            raise InvalidInput.at(
                "/label_map",
                f'{self.missing:,} documents have no label (NaN); map them, as with {{"{MISSING}": 0}}',
            )
        if self.minimum is not None and self.minimum < 0:
            written = label_text(self.minimum)
            raise InvalidInput.at(
                "/label_map", f'labels go down to {written}; map what is below 0, as with {{"{written}": 0}}'
            )


def label_text(label: float) -> str:
    """Write a float32 label as people do: 2 rather than 2.0, 0.1 rather than 0.10000000149011612."""
    return MISSING if math.isnan(label) else str(np.float32(label)).removesuffix(".0")


def label_map(values: Mapping[str, float]) -> LabelMap:
    """Check a map from labels, as text, to the labels to use instead.

    Raises:
        InvalidInput: For each key that is no number or "nan", and each value that is no label.
    """
    problems = [
        InputProblem(
            f"/label_map/{key}", "maps a label, a number such as -1, or nan, to a number of at least 0"
        )
        for key, value in values.items()
        if not _is_label(key) or not (math.isfinite(value) and value >= 0)
    ]
    if problems:
        raise InvalidInput(*problems)
    return {label_text(float(key)): float(value) for key, value in values.items()}


def map_labels(dataset: RankingDataset, mapped: LabelMap) -> RankingDataset:
    """Replace labels by others; those not named stay."""
    if not mapped:
        return dataset
    labels = dataset.labels.copy()
    for key, value in mapped.items():
        source = np.float32(key)
        labels[np.isnan(dataset.labels) if np.isnan(source) else dataset.labels == source] = value
    return dataset.with_labels(labels)


def _is_label(text: str) -> bool:
    try:
        return not math.isinf(float(text))
    except ValueError:
        return False
