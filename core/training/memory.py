"""What memory a training takes, told before it begins."""

from dataclasses import dataclass

from core.data import RankingDataset
from core.training.spec import TrainingSpec

# Measured with LightGBM 4.7: scores, derivatives, rows of leaves, and the layout of the loss.
_LEARNT_DOCUMENT_BYTES = 56
_MEASURED_DOCUMENT_BYTES = 24
_HISTOGRAM_BIN_BYTES = 16
_ONE_BYTE_BINS = 256
_SAMPLE_BYTES = 2**25


@dataclass(frozen=True)
class MemoryNeed:
    """The memory of a training, in bytes.

    Attributes:
        bins: Of features in bins: a byte each, two where `max_bin` is above 255.
        documents: Of what is kept of each document: scores, derivatives, labels.
        histograms: Of those that LightGBM keeps for the leaves of a tree.
        raw: Of the features themselves, which LightGBM copies for linear leaves.
    """

    bins: int
    documents: int
    histograms: int
    raw: int

    @property
    def total(self) -> int:
        """All of it, and the sample that bins are found from."""
        return self.bins + self.documents + self.histograms + self.raw + _SAMPLE_BYTES

    def __str__(self) -> str:
        parts = {
            "features in bins": self.bins,
            "scores and derivatives": self.documents,
            "histograms": self.histograms,
            "features of linear leaves": self.raw,
        }
        told = ", ".join(f"{size / 2**20:,.0f} for {name}" for name, size in parts.items() if size >= 2**20)
        return f"{self.total / 2**20:,.0f} MiB" + (f" ({told})" if told else "")


def memory_need(
    spec: TrainingSpec, training: RankingDataset, validation: RankingDataset | None = None
) -> MemoryNeed:
    """Estimate what a training takes at most, beside what the process holds already."""
    parts = [training] if validation is None else [training, validation]
    bin_bytes = 1 if spec.hyperparameters.max_bin < _ONE_BYTE_BINS else 2
    bins = sum(part.n_documents * part.n_features for part in parts) * bin_bytes
    documents = training.n_documents * _LEARNT_DOCUMENT_BYTES
    documents += sum(part.n_documents for part in parts) * _MEASURED_DOCUMENT_BYTES
    of_a_leaf = training.n_features * min(spec.hyperparameters.max_bin, training.n_documents)
    histograms = spec.hyperparameters.num_leaves * of_a_leaf * _HISTOGRAM_BIN_BYTES
    linear = spec.hyperparameters.linear_tree
    raw = sum(part.features.nbytes for part in parts) if linear else 0
    return MemoryNeed(bins, documents, histograms, raw)
