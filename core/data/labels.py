"""Labels as judged, and as mapped by a job."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from core.data.dataset import RankingDataset
from core.errors import InputProblem, InvalidInput, pointer_of
from core.types import Float32Array, Float64Array

LabelMap = Mapping[str, float]
MISSING = "nan"
LARGEST_LABEL = 1e30  # float32 gradients overflow at 3e38, and losses sum labels over pairs


@dataclass(frozen=True)
class LabelRange:
    """Properties of labels that a job checks before it uses them.

    Attributes:
        minimum: The smallest label, as the float64 of its shortest text: 0.1, not 0.10000000149. None if all
            labels are NaN.
        maximum: The largest label in the same form, None if all labels are NaN.
        missing: Number of documents whose label is NaN.
        whole: Whether all labels other than NaN are whole numbers.
    """

    minimum: float | None
    maximum: float | None
    missing: int
    whole: bool

    @classmethod
    def of(cls, labels: Float32Array) -> "LabelRange":
        """Compute the range of labels.

        Example:
            >>> LabelRange.of(np.array([2, -1, np.nan], np.float32))
            LabelRange(minimum=-1.0, maximum=2.0, missing=1, whole=True)
        """
        judged = labels[~np.isnan(labels)]
        return cls(
            minimum=float(label_text(judged.min())) if judged.size else None,
            maximum=float(label_text(judged.max())) if judged.size else None,
            missing=int(labels.size - judged.size),
            whole=bool((judged == np.floor(judged)).all()),
        )

    def check(self) -> None:
        """Refuse labels that no loss or metric can use.

        Raises:
            InvalidInput: At `/label_map`, which can fix it: a document has no label, or a label is below 0 or
                above `LARGEST_LABEL`.
        """
        problems = [InputProblem("/label_map", detail) for detail in self._faults()]
        if problems:
            raise InvalidInput(*problems)

    def representatives(self) -> Float64Array:
        """Return the smallest and the largest label and, where labels have fractions, a fractional label.

        These labels suffice for a check that depends only on size and wholeness: if the check refuses any
        label of the dataset, it also refuses a representative.
        """
        if self.minimum is None or self.maximum is None:
            return np.empty(0)
        labels = [self.minimum, self.maximum]
        if not self.whole and self.minimum.is_integer() and self.maximum.is_integer():
            labels.append(self.minimum + 0.5)
        return np.array(labels)

    def _faults(self) -> Iterator[str]:
        if self.missing:
            documents = "1 document has" if self.missing == 1 else f"{self.missing:,} documents have"
            yield f'{documents} no label (NaN); map it, for example with {{"{MISSING}": 0}}'
        if self.minimum is not None and self.minimum < 0:
            label = label_text(self.minimum)
            yield f'the smallest label is {label}; map each label below 0, for example with {{"{label}": 0}}'
        if self.maximum is not None and self.maximum > LARGEST_LABEL:
            yield (
                f"the largest label is {label_text(self.maximum)}, but sums overflow for labels above 1e30;"
                " map such labels"
            )


def label_text(label: float) -> str:
    """Format a float32 label briefly: 2 rather than 2.0, 0.1 rather than 0.10000000149011612.

    Equal labels have equal texts: 0 and -0, any two NaN.
    """
    if math.isnan(label):
        return MISSING
    return repr(float(str(np.float32(label) + np.float32(0)))).removesuffix(".0")


def label_map(values: Mapping[str, float]) -> LabelMap:
    """Check a map from labels, as text, to the labels to use instead.

    Returns:
        The map with each label as `label_text` writes it.

    Raises:
        InvalidInput: For each key that is not a number or "nan", or repeats the label of an earlier key. For
            each value that a job cannot use as a label.

    Example:
        >>> label_map({"-1.0": 0, "NaN": 0})
        {'-1': 0.0, 'nan': 0.0}
    """
    problems: list[InputProblem] = []
    mapped: dict[str, float] = {}
    for key, value in values.items():
        label = _parsed(key)
        if label is None:
            fault = "must be a label: a number such as -1, or nan"
        elif label_text(label) in mapped:
            fault = f"repeats the label {label_text(label)}"
        elif not _is_usable(value):
            fault = f"must be mapped to a number from 0 to {LARGEST_LABEL:g}; found {value!r}"
        else:
            mapped[label_text(label)] = float(value)
            continue
        problems.append(InputProblem(pointer_of("label_map", key), fault))
    if problems:
        raise InvalidInput(*problems)
    return mapped


def map_labels(dataset: RankingDataset, mapping: LabelMap) -> RankingDataset:
    """Replace labels by the map, all simultaneously; labels that are not in the map are unchanged.

    Example:
        >>> dataset = RankingDataset.from_arrays([[0], [0], [0]], [-1, 0, np.nan], [0, 3])
        >>> map_labels(dataset, {"-1": 0, "0": 1, "nan": 0}).labels.tolist()
        [0.0, 1.0, 0.0]
    """
    if not mapping:
        return dataset
    labels = dataset.labels.copy()
    for key, value in mapping.items():
        source = np.float32(key)
        labels[np.isnan(dataset.labels) if np.isnan(source) else dataset.labels == source] = value
    return dataset.with_labels(labels)


def map_range(label_range: LabelRange, known_labels: Iterable[float], mapping: LabelMap) -> LabelRange:
    """Return the range of labels after mapping, without the labels themselves.

    Args:
        known_labels: Labels that certainly occur. The result is exact if these are all labels. Otherwise,
            other labels of the range are ignored: `check` never refuses a label that does not occur.
        mapping: The map, as `label_map` returns it.
    """
    if not mapping:
        return label_range
    ends = (label for label in (label_range.minimum, label_range.maximum) if label is not None)
    labels = [mapping.get(label_text(label), label) for label in (*known_labels, *ends)]
    missing = 0 if MISSING in mapping else label_range.missing
    if label_range.missing and not missing:
        labels.append(mapping[MISSING])
    return LabelRange(
        minimum=min(labels, default=None),
        maximum=max(labels, default=None),
        missing=missing,
        whole=all(float(label).is_integer() for label in labels),
    )


def _parsed(text: str) -> float | None:
    try:
        with np.errstate(over="ignore"):  # overflow to infinity is handled below
            label = float(np.float32(text))
    except ValueError:
        return None
    return None if math.isinf(label) or "_" in text else label


def _is_usable(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST_LABEL
