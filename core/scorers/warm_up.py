"""Compile the kernels that score documents with networks, or load them from numba's disk cache."""

import numpy as np

from core.scorers.gradients import IntegratedGradients
from core.scorers.inputs import InputTransform
from core.scorers.network import Network
from core.scorers.packing import Layer


def requests() -> None:
    """Score a document and explain it; kinds of inputs and activations share the kernels."""
    features = np.zeros((1, 1), np.float32)
    inputs = InputTransform.fit(features, kind="standard", log1p=False, missing_indicators=False)
    one = np.ones(1, np.float32)
    layers = (Layer(np.ones((1, 1), np.float32), one, one, one), Layer(np.ones((1, 1), np.float32), one))
    network = Network(("feature",), inputs, layers)
    network.score(features)
    IntegratedGradients(network).explain(features)
