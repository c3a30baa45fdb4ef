"""Conventions of metrics: definitions of a metric such as NDCG@10 that differ between tools."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

from core.errors import InputProblem, InvalidInput
from core.gains import Gain

_CHOICES: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "discount": ("log2", "letor", "reciprocal"),
        "ties": ("stable", "docid", "average"),
        "queries_without_relevant": ("skip", 0, 1),
        "short_lists": ("as_is", "zero"),
        "precision_sum_over": ("relevant", "reachable"),
    }
)


def _are_numbers(values: Any) -> bool:
    """Return whether values are one or more finite numbers."""
    if not isinstance(values, list | tuple) or not values:
        return False
    return all(isinstance(value, Real) and math.isfinite(value) for value in values)


def _is_whole(value: Any) -> bool:
    """Return whether a value is a whole number, of Python or NumPy."""
    return isinstance(value, Integral) and not isinstance(value, bool)


@dataclass(frozen=True)
class Conventions:
    """Conventions of metric values; each metric uses only the applicable conventions.

    Attributes:
        gain: Gain of a label: `exp2` (2^y − 1), `linear` (y), or a list by label, of gains of at least 0.
            Labels below 0 have the gain 0.
        discount: `log2`: D(r) = log2(1 + r); `letor`: D = 1 at ranks 1 and 2, then log2(r); `reciprocal`:
            D(r) = r.
        relevance_threshold: Documents with a label above this are relevant.
        ties: Order of tied documents: `stable`, input order; `docid`, the larger document id first, with
            scores compared as float32, as in trec_eval; `average`, the mean over all orders (NDCG, DCG) or
            one step per tie (average precision), as in scikit-learn, and `stable` for other metrics. If a
            tie spans the cutoff or `max_documents`, each tied document counts with the fraction of the tied
            documents that is above it.
        queries_without_relevant: Value of queries for which a metric is undefined; `skip` leaves these
            queries out of means.
        short_lists: NDCG@k of a query with fewer than k documents: `as_is`, or `zero`.
        precision_sum_over: Divisor of average precision@k: `relevant`, the number of relevant documents, or
            `reachable`, min(relevant, k).
        max_label: The label of a perfect document, for ERR.
        max_documents: Number of top documents of each ranking that count; further documents count as not
            retrieved. None for all. This is trec_eval's -M.
        judged_only: Whether unjudged documents and documents with a label below 0 are removed from
            rankings. This is trec_eval's -J.
    """

    gain: Gain = "exp2"
    discount: str = "log2"
    relevance_threshold: float = 0.0
    ties: str = "stable"
    queries_without_relevant: str | int = "skip"
    short_lists: str = "as_is"
    precision_sum_over: str = "relevant"
    max_label: int = 4
    max_documents: int | None = None
    judged_only: bool = False

    def __post_init__(self) -> None:
        problems = [
            InputProblem(f"/{name}", f"must be one of {', '.join(map(str, choices))}")
            for name, choices in _CHOICES.items()
            if getattr(self, name) not in choices or isinstance(getattr(self, name), bool)
        ]
        if self.gain not in ("exp2", "linear") and not _are_numbers(self.gain):
            problems.append(
                InputProblem("/gain", "must be exp2, linear or a list of gains, one for each label from 0")
            )
        if not _are_numbers((self.relevance_threshold,)):
            problems.append(InputProblem("/relevance_threshold", "must be a finite number"))
        if not (_is_whole(self.max_label) and 1 <= self.max_label <= 1000):
            problems.append(InputProblem("/max_label", "must be a whole number from 1 to 1000"))
        if not (self.max_documents is None or (_is_whole(self.max_documents) and self.max_documents >= 1)):
            problems.append(InputProblem("/max_documents", "must be a whole number of at least 1"))
        if not isinstance(self.judged_only, bool):
            problems.append(InputProblem("/judged_only", "must be true or false"))
        if problems:
            raise InvalidInput(*problems)

    def to_json(self) -> dict[str, Any]:
        """Return the conventions and the name of their preset, or None, under the key `preset`.

        `max_documents` and `judged_only` are left out if they have their defaults.
        """
        values = asdict(self)
        if self.max_documents is None:  # omitted, so that workers of earlier releases accept the job
            del values["max_documents"]
        if not self.judged_only:
            del values["judged_only"]
        return {"preset": preset_of(self), **values}


DEFAULT = Conventions()
PRESETS: Mapping[str, Conventions] = MappingProxyType(
    {
        "default": DEFAULT,
        "lightgbm": Conventions(
            relevance_threshold=0.5, queries_without_relevant=1, precision_sum_over="reachable"
        ),
        "xgboost": Conventions(queries_without_relevant=1, precision_sum_over="reachable"),
        "sklearn": Conventions(gain="linear", ties="average", queries_without_relevant=0),
        "trec_eval": Conventions(gain="linear", ties="docid", queries_without_relevant=0),
        "letor": Conventions(discount="letor", queries_without_relevant=0, short_lists="zero"),
    }
)


def conventions(contract: "str | Mapping[str, Any] | Conventions | None") -> Conventions:
    """Build conventions from the name of a preset, or from a mapping of a preset and other fields.

    The result of `Conventions.to_json` is such a mapping.

    Raises:
        InvalidInput: For an unknown preset or field, or an invalid value.

    Example:
        >>> conventions({"preset": "trec_eval", "gain": "exp2"}).ties
        'docid'
    """
    if contract is None:
        return DEFAULT
    if isinstance(contract, Conventions):
        return contract
    if isinstance(contract, str):
        return _preset(contract, "")
    values = dict(contract)
    base = asdict(_preset(values.pop("preset", None) or "default", "/preset"))
    unknown = [
        InputProblem(f"/{name}", f"unknown; known here: preset, {', '.join(base)}")
        for name in values
        if name not in base
    ]
    if unknown:
        raise InvalidInput(*unknown)
    if isinstance(values.get("gain"), list) and _are_numbers(values["gain"]):
        values["gain"] = tuple(float(gain) for gain in values["gain"])
    return Conventions(**{**base, **values})


def preset_of(contract: Conventions) -> str | None:
    """Return the name of the preset with these conventions, None if there is no such preset."""
    return next((name for name, preset in PRESETS.items() if preset == contract), None)


def _preset(name: Any, pointer: str) -> Conventions:
    if not isinstance(name, str) or name not in PRESETS:
        raise InvalidInput.at(pointer, f"unknown preset {str(name)[:40]!r}; known are {', '.join(PRESETS)}")
    return PRESETS[name]
