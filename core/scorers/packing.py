"""The layers of a network, and their weights in the memory layout of the kernels."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.kernel_cache import processor
from core.scorers.kernels import BLOCK, round_up
from core.scorers.tiles import LANES, ROWS, WIDE
from core.types import Float32Array, Float64Array, Int64Array

_CACHE_LINE = 8  # float64 values in a cache line; loading a vector across two lines takes two loads
_HAS_WIDE_REGISTERS = "+avx512f" in processor()[1]


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

    def arrays(self) -> dict[str, Float32Array]:
        """Return the arrays of the layer by name."""
        return {name: array for name, array in vars(self).items() if array is not None}


@dataclass(frozen=True, eq=False)
class PackedNetwork:
    """The layers of a network in float64.

    The units of a layer are padded with zeros to a multiple of `LANES`. Weights are stored in panels, first
    of `WIDE` units and then of `LANES`: all weights from the first input to the units of the panel, then
    those from the next input. The output unit's weights are one row.

    Attributes:
        layout: int64 (n_layers, 7): inputs, units, units with padding (in the output layer, inputs with
            padding), wide panels, and the offsets in `weights` of the layer's weights, bias and norm (-1
            without one).
        weights: float64, all layers one after the other.
    """

    layout: Int64Array
    weights: Float64Array

    @classmethod
    def of(cls, layers: Sequence[Layer]) -> "PackedNetwork":
        """Pack the hidden layers and the output layer."""
        parts: list[Float64Array] = []
        lines = [_pack_layer(layer, parts, is_last=layer is layers[-1]) for layer in layers]
        return cls(np.array(lines, np.int64), _align(np.concatenate(parts)))

    def scratch(self, n_documents: int) -> Float64Array:
        """Allocate scratch for the inputs of a block of documents and the units of two layers."""
        rows = min(-(-n_documents // ROWS) * ROWS, BLOCK)
        return np.empty(rows * self._row_size)

    @cached_property
    def _row_size(self) -> int:
        widest = int(self.layout[:-1, 2].max(initial=0))
        return int(round_up(int(self.layout[0, 0]), LANES)) + 2 * widest


def _pack_layer(layer: Layer, parts: list[Float64Array], *, is_last: bool) -> list[int]:
    """Append a layer to the parts; return its row of the layout."""
    n_inputs, n_units = layer.weights.shape
    if is_last:
        width = round_up(n_inputs, LANES)
        weights_at = _append(parts, _pad(layer.weights[:, 0], width))
        return [n_inputs, n_units, width, 0, weights_at, _append(parts, _pad(layer.bias, LANES)), -1]
    width = round_up(n_units, LANES)
    n_wide = width // WIDE if _HAS_WIDE_REGISTERS else 0
    weights = np.zeros((n_inputs, width))
    weights[:, :n_units] = layer.weights
    begin_narrow = n_wide * WIDE
    panels = [weights[:, unit : unit + WIDE] for unit in range(0, begin_narrow, WIDE)]
    panels += [weights[:, unit : unit + LANES] for unit in range(begin_narrow, width, LANES)]
    weights_at = _append(parts, np.concatenate([panel.ravel() for panel in panels]))
    bias_at, norm_at = _append(parts, _pad(layer.bias, width)), -1
    if layer.norm_scales is not None and layer.norm_shifts is not None:
        lines = (layer.norm_scales, layer.norm_shifts, np.ones(n_units))
        norm_at = _append(parts, np.concatenate([_pad(line, width) for line in lines]))
    return [n_inputs, n_units, width, n_wide, weights_at, bias_at, norm_at]


def _append(parts: list[Float64Array], values: Float64Array) -> int:
    """Append values at a cache-line boundary; return their offset."""
    begin = sum(map(len, parts))
    parts.append(_pad(values, round_up(len(values), _CACHE_LINE)))
    return begin


def _pad(values: Float32Array | Float64Array, size: int) -> Float64Array:
    padded = np.zeros(size)
    padded[: len(values)] = values
    return padded


def _align(values: Float64Array) -> Float64Array:
    """Copy values to an array that begins at a cache-line boundary."""
    buffer = np.empty(len(values) + _CACHE_LINE)
    begin = -(buffer.ctypes.data // buffer.itemsize) % _CACHE_LINE
    aligned: Float64Array = buffer[begin : begin + len(values)]
    aligned[:] = values
    return aligned
