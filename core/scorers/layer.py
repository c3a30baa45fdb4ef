"""One layer of a network, as it is trained and stored."""

from dataclasses import dataclass

from core.types import Float32Array


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer: `bias + inputs @ weights`, then, in hidden layers, the norm and the activation.

    Attributes:
        weights: float32 (n_inputs, n_outputs).
        bias: float32 (n_outputs,).
        norm_scales: float32 (n_outputs,) of the layer norm, None without one.
        norm_shifts: float32 (n_outputs,) of the layer norm, None without one.
    """

    weights: Float32Array
    bias: Float32Array
    norm_scales: Float32Array | None = None
    norm_shifts: Float32Array | None = None
