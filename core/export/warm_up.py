"""Compile the parity kernels of exports, or load them from numba's disk cache."""

import numpy as np

from core.data import synthetic_dataset
from core.export.formats import export_model
from core.export.parity import parity
from core.scorers import InputTransform, Layer, Network, write_network
from core.scoring.model_text import ModelText
from core.scoring.tree import Tree

_STUMP = Tree(
    features=np.zeros(1, np.int64),
    thresholds=np.zeros(1),
    decisions=np.zeros(1, np.int64),
    left=np.array([-1]),
    right=np.array([-2]),
    leaf_values=np.zeros(2),
    gains=np.zeros(1),
    split_counts=np.zeros(1, np.int64),
    leaf_counts=np.zeros(2, np.int64),
)


def parity_kernels() -> None:
    """Export and compare a minimal forest and a minimal linear scorer."""
    dataset = synthetic_dataset(1, seed=0)
    names = tuple(f"f{number}" for number in range(dataset.n_features))
    parity(export_model(ModelText(names, (_STUMP,)).write(), "ranklib"), dataset)
    inputs = InputTransform.fit(dataset.features[:0], kind="none", log1p=False, missing_indicators=False)
    layer = Layer(np.ones((len(names), 1), np.float32), np.ones(1, np.float32))
    network = write_network(Network(names, inputs, (layer,)))
    for name in ("c", "solr"):  # `c` adds in float64, `solr` in float32
        parity(export_model(network, name), dataset)
