"""Compile, or load from numba's disk cache, the kernels that exports are compared by."""

from core.data import synthetic_dataset
from core.export.formats import export_model
from core.export.parity import parity as compare
from core.scoring.model_text import ModelText
from core.scoring.tree import Tree


def parity() -> None:
    """Export the least model there is, and compare it."""
    dataset = synthetic_dataset(1, seed=0)
    model = ModelText(tuple(f"f{number}" for number in range(dataset.n_features)), (Tree.leaf(0.0),))
    compare(export_model(model.write(), "ranklib"), dataset)
