"""Two instructions of the processor that numba has no words for."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from core.jit import Kernel


def _upper_word(_: Any, one: types.Type, other: types.Type) -> Any:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, words: list[ir.Value]) -> ir.Value:
        double = ir.IntType(128)
        product = builder.mul(*(builder.zext(word, double) for word in words))
        return builder.trunc(builder.lshr(product, double(64)), ir.IntType(64))

    return types.uint64(one, other), generate


def _leading_zeros(_: Any, word: types.Type) -> Any:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, words: list[ir.Value]) -> ir.Value:
        return builder.ctlz(words[0], ir.IntType(1)(0))

    return types.uint64(word), generate


# Of a product of two uint64, and of a uint64 before its highest bit.
upper_word: Kernel = intrinsic(_upper_word)
leading_zeros: Kernel = intrinsic(_leading_zeros)
