"""Sums of products in SIMD registers, which numba's loops cannot express.

A tile adds the products of four documents' inputs and the weights of 32 or 8 units to its outputs. Every
output is one sum in the order of the inputs. It therefore depends bit for bit neither on the size of the tile
nor on the other documents. A processor with fused multiply-add rounds each product and sum once.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from core.jit import Kernel

cgutils: Any = _cgutils  # the module has no type annotations

LANES = 8  # float64 values of a vector, which fills one, two or four processor registers
ROWS = 4  # documents of a tile
NARROW, WIDE = LANES, 4 * LANES  # units of a tile; a wide one needs 16 registers of 512 bits

_INDEX, _FLOAT = ir.IntType(64), ir.DoubleType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_LANE = ir.IntType(32)
_ITEM_BYTES = 8


def _tile(n_units: int) -> Kernel:
    """Return the intrinsic `(inputs, at, stride, weights, at, n_inputs, outputs, at, stride)`."""

    def typed(
        _: Any, inputs: Any, i: Any, j: Any, weights: Any, k: Any, n: Any, outputs: Any, o: Any, p: Any
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
            begin = [_item_pointer(context, builder, signature, arguments, at) for at in (0, 3, 6)]
            _add_products(builder, begin, arguments[2], arguments[5], arguments[8], n_units)
            return context.get_dummy_value()

        return types.void(inputs, i, j, weights, k, n, outputs, o, p), generate

    tile: Kernel = intrinsic(typed)
    return tile


def _add_products(
    builder: Any, begin: Sequence[Any], stride: Any, n_inputs: Any, output_stride: Any, n_units: int
) -> None:
    """Accumulate a tile's outputs in registers over all of its inputs."""
    inputs, weights, outputs = begin
    cells = [(row, unit) for row in range(ROWS) for unit in range(0, n_units, LANES)]
    pointers = [_at(builder, outputs, output_stride, row, unit) for row, unit in cells]
    sums = {cell: cgutils.alloca_once(builder, _VECTOR) for cell in cells}
    for cell, pointer in zip(cells, pointers, strict=True):
        builder.store(_vector(builder, pointer), sums[cell])
    rows = [_at(builder, inputs, stride, row, 0) for row in range(ROWS)]
    with cgutils.for_range(builder, n_inputs) as loop:
        line = builder.gep(weights, [builder.mul(loop.index, _INDEX(n_units))])
        loaded = {
            unit: _vector(builder, builder.gep(line, [_INDEX(unit)])) for unit in range(0, n_units, LANES)
        }
        repeated = [_broadcast(builder, builder.load(builder.gep(row, [loop.index]))) for row in rows]
        for row, unit in cells:
            total = sums[row, unit]
            builder.store(_multiply_add(builder, repeated[row], loaded[unit], builder.load(total)), total)
    for cell, pointer in zip(cells, pointers, strict=True):
        builder.store(builder.load(sums[cell]), _as_vector(builder, pointer), align=_ITEM_BYTES)


def _lane_products(_: Any, one: Any, i: Any, other: Any, j: Any, n: Any) -> Any:
    """Sum products in eight partial sums of every eighth product, which are then added in pairs."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        left, right = (_item_pointer(context, builder, signature, arguments, at) for at in (0, 2))
        total = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES))
        with cgutils.for_range(builder, builder.sdiv(arguments[4], _INDEX(LANES))) as loop:
            first = builder.mul(loop.index, _INDEX(LANES))
            factors = [_vector(builder, builder.gep(each, [first])) for each in (left, right)]
            builder.store(_multiply_add(builder, factors[0], factors[1], builder.load(total)), total)
        parts = [builder.extract_element(builder.load(total), _LANE(lane)) for lane in range(LANES)]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [builder.fadd(parts[lane], parts[lane + half]) for lane in range(half)]
        return parts[0]

    return types.float64(one, i, other, j, n), generate


def _item_pointer(context: Any, builder: Any, signature: Any, arguments: Sequence[Any], at: int) -> Any:
    """Return the address of an array's item; the array is argument `at`, its index the next one."""
    array = context.make_array(signature.args[at])(context, builder, arguments[at])
    return builder.gep(array.data, [arguments[at + 1]])


def _at(builder: Any, begin: Any, stride: Any, row: int, column: int) -> Any:
    return builder.gep(begin, [builder.add(builder.mul(stride, _INDEX(row)), _INDEX(column))])


def _as_vector(builder: Any, pointer: Any) -> Any:
    return builder.bitcast(pointer, _VECTOR.as_pointer())


def _vector(builder: Any, pointer: Any) -> Any:
    return builder.load(_as_vector(builder, pointer), align=_ITEM_BYTES)


def _broadcast(builder: Any, value: Any) -> Any:
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, value, _LANE(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_LANE, LANES), [0] * LANES))


def _multiply_add(builder: Any, one: Any, other: Any, total: Any) -> Any:
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.v{LANES}f64")
    return builder.call(function, [one, other, total])


# Arguments: arrays are flat; each is followed by its start index and, for tiles, its row length.
# `lane_products` takes two arrays with start indices, and a length that is a multiple of `LANES`.
add_wide: Kernel = _tile(WIDE)
add_narrow: Kernel = _tile(NARROW)
lane_products: Kernel = intrinsic(_lane_products)
