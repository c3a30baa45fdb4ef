"""Corrections of position bias in trainings on clicks."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.clicks.log import MAX_RANK
from core.data import RankingDataset
from core.errors import InputProblem, InvalidInput
from core.losses import Loss
from core.names import first_names
from core.parameters import Numbers, check, parameter, parameters_of, values_of
from core.types import Float64Array, Int64Array

CORRECTIONS = ("none", "ips", "additive", "ratio", "affine", "dual")
DUAL_STEP = 0.2
_DEFAULT_CLIP, _DEFAULT_DUAL_CLIP = 0.01, 0.1
RANK = "rank"
# Losses without `ips`: `mse` compares no documents, and ListMLE also orders documents without a click.
_LOSSES_WITHOUT_IPS = ("mse", "listmle", "w-listmle")
# Losses that a correction supports; a correction without an entry supports all, except for `ips` as above.
_SUPPORTED_LOSSES = {
    "affine": ("mse", "arp-loss1", "listnet"),
    "ratio": ("ranknet", "lambdarank"),
    "dual": ("listnet",),
}
# Values that options of the loss must have, by correction.
_REQUIRED_LOSS_OPTIONS: dict[str, dict[str, str | None]] = {
    "ratio": {"pair_selection": None, "assignment": "hard", "target": "ndcg"},
    "dual": {"target": "label"},
}


@dataclass(frozen=True)
class ClickCorrection:
    """The correction of a training on clicks; labels above 0 are clicks.

    Raises:
        InvalidInput: With one problem per option that is out of bounds or conflicts with the correction.
    """

    correction: str = parameter(
        "none",
        "`ips`: clicks weighted by 1 / propensity; `affine`: (click − intercept) / propensity, against"
        " trust bias; `additive`: a term by rank, learnt and added to the score; `ratio`: propensity ratios"
        " of pairs, learnt; `dual`: propensities, learnt together with the model",
        choices=CORRECTIONS,
    )
    log: str | None = parameter(
        None, "Click log with the lists to train on; the training dataset provides the features"
    )
    column: str = parameter(RANK, "Document column with the rank at which each document was shown, from 1")
    propensities: Numbers | None = parameter(
        None, "Propensity of each rank, for ips and affine", minimum=0.0, above=True, maximum=100.0
    )
    intercepts: Numbers | None = parameter(
        None,
        "Probability of a click on an irrelevant document at each rank, for affine",
        minimum=0.0,
        maximum=1.0,
    )
    clip: float | None = parameter(
        None,
        "Lower bound of the propensities in weights, for ips, affine and dual. Default:"
        f" {_DEFAULT_DUAL_CLIP:g} for dual, otherwise {_DEFAULT_CLIP:g}",
        minimum=0.0,
        maximum=1.0,
    )
    regularization: float = parameter(
        0.0, "L2 penalty of the learnt terms per document, for additive", minimum=0.0, maximum=1e6
    )
    step: float | None = parameter(
        None,
        "Learning rate of the position bias. Default for additive: the learning rate of the trees, or 0.1"
        f" for networks. Default for dual: {DUAL_STEP:g}; at most 1",
        minimum=0.0,
        above=True,
        maximum=10.0,
    )
    norm: float = parameter(
        1.0,
        "Norm p of the propensity ratios, for ratio; each ratio is raised to 1 / (1 + p)",
        minimum=0.0,
        maximum=100.0,
    )

    def __post_init__(self) -> None:
        check(self)
        problems = []
        if self.correction in ("ips", "affine") and self.propensities is None:
            problems.append(
                InputProblem(
                    "/propensities",
                    f"{self.correction} needs the propensity of each rank; name them, or a propensity_job",
                )
            )
        if self.correction == "affine" and len(self.intercepts or ()) != len(self.propensities or ()):
            problems.append(InputProblem("/intercepts", "must have one number for each propensity"))
        if self.correction == "dual" and (self.step or 0.0) > 1.0:
            problems.append(InputProblem("/step", "must be at most 1 for dual"))
        if problems:
            raise InvalidInput(*problems)

    @property
    def min_propensity(self) -> float:
        """Return the lower bound above 0 at which propensities are clipped."""
        default = _DEFAULT_DUAL_CLIP if self.correction == "dual" else _DEFAULT_CLIP
        return max(default if self.clip is None else self.clip, 1e-12)

    def changed(self) -> dict[str, object]:
        """Return the options that differ from their defaults, which a job stores."""
        values = values_of(self)
        return {p.name: values[p.name] for p in parameters_of(type(self)) if values[p.name] != p.default}

    def check_loss(self, loss: Loss) -> None:
        """Refuse a loss that the correction does not support, or an unsupported option of the loss.

        Raises:
            InvalidInput: At `/correction`.
        """
        if self.correction == "ips" and loss.name in _LOSSES_WITHOUT_IPS:
            raise InvalidInput.at(
                "/correction",
                f"ips weights clicked documents but not the others, which is undefined for {loss.name}",
            )
        losses = _SUPPORTED_LOSSES.get(self.correction)
        if losses is not None and loss.name not in losses:
            raise InvalidInput.at(
                "/correction",
                f"{self.correction} supports {', '.join(losses)}; the loss is {loss.name}",
            )
        required = _REQUIRED_LOSS_OPTIONS.get(self.correction, {})
        unsupported = [name for name, value in required.items() if getattr(loss, name, value) != value]
        if unsupported:
            raise InvalidInput.at(
                "/correction", f"{self.correction} does not support the loss with {first_names(unsupported)}"
            )

    def ranks_of(self, dataset: RankingDataset) -> Int64Array:
        """Return the rank at which each document was shown, (n_documents,), from 1.

        Raises:
            InvalidInput: The dataset has no such column, an entry is not a rank up to `MAX_RANK`, or a rank
                has no propensity.
        """
        texts = dataset.document_columns.get(self.column)
        if texts is None:
            names = first_names(sorted(dataset.document_columns)) or "none"
            raise InvalidInput.at(
                "/clicks/column",
                f"the training data has no document column {self.column!r}; it has {names}. Upload it with"
                ' columns {"document_columns": ["' + self.column + '"]}',
            )
        try:
            ranks = np.asarray(pc.cast(texts.array, pa.int32()), np.int64)
        except pa.ArrowInvalid as error:
            raise InvalidInput.at(
                "/clicks/column", f"{self.column!r} must hold a whole number for each document: {error}"
            ) from error
        minimum, maximum = int(ranks.min(initial=1)), int(ranks.max(initial=1))
        if minimum < 1:
            raise InvalidInput.at("/clicks/column", f"{self.column!r} holds {minimum}; ranks begin at 1")
        if maximum > MAX_RANK:
            raise InvalidInput.at(
                "/clicks/column", f"{self.column!r} holds {maximum:,}; the greatest rank is {MAX_RANK:,}"
            )
        if self.propensities is not None and maximum > len(self.propensities):
            raise InvalidInput.at(
                "/clicks/propensities",
                f"holds {len(self.propensities)} ranks, and documents were shown at rank {maximum}",
            )
        return ranks

    def weights_of_clicks(self, dataset: RankingDataset) -> Float64Array:
        """Return the weight of each click, in the order of the documents; see `ranks_of` for errors."""
        return self.weights(self.ranks_of(dataset)[dataset.labels > 0.0])

    def weights(self, ranks: Int64Array) -> Float64Array:
        """Return 1 / max(p, `min_propensity`) with the propensity p of each given rank, (n_documents,)."""
        propensities = np.maximum(np.asarray(self.propensities, np.float64), self.min_propensity)
        weights: Float64Array = 1.0 / propensities[ranks - 1]
        return weights


@dataclass(frozen=True)
class Clipping:
    """The weights of clicks, and the effect of clipping.

    Attributes:
        clipped: Clicked documents whose weight was clipped.
        kept: Share of the total weight that is left after clipping, from 0 to 1; 1 without clicks.
        effective: Kish's effective number of clicks, (Σ w)² / Σ w².
    """

    clicks: int
    clipped: int
    kept: float
    effective: float
    largest: float

    @classmethod
    def of(cls, correction: ClickCorrection, dataset: RankingDataset) -> "Clipping":
        """Return the weights and clipping of a dataset's clicks by a correction with propensities."""
        ranks = correction.ranks_of(dataset)[dataset.labels > 0.0]
        weights = correction.weights(ranks)
        unclipped = 1.0 / np.asarray(correction.propensities, np.float64)[ranks - 1]
        if not len(ranks):
            return cls(0, 0, 1.0, 0.0, 0.0)
        return cls(
            len(ranks),
            int((unclipped > weights).sum()),
            float(weights.sum() / unclipped.sum()),
            float(weights.sum() ** 2 / (weights**2).sum()),
            float(weights.max()),
        )

    @property
    def summary(self) -> str:
        """Return sentences on the weights and the bias of clipping."""
        text = (
            f"{self.clicks:,} clicks have an effective sample size of {self.effective:,.0f}; the largest"
            f" weight is {self.largest:.3g}."
        )
        if not self.clipped:
            return f"{text} No weight was clipped."
        return (
            f"{text} Clipping lowered {self.clipped:,} of the weights and removed {1.0 - self.kept:.1%} of"
            " the total weight: clicks at these ranks count too little, and less position bias is"
            " corrected."
        )
