"""Processor instructions for which numba has no functions."""

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


def _float64_of_bits(_: Any, bits: types.Type) -> Any:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, words: list[ir.Value]) -> ir.Value:
        return builder.bitcast(words[0], ir.DoubleType())

    return types.float64(bits), generate


def _negated_if(_: Any, __: types.Type, ___: types.Type) -> Any:
    def generate(_: Any, builder: ir.IRBuilder, __: Any, words: list[ir.Value]) -> ir.Value:
        bits = builder.bitcast(words[0], ir.IntType(64))
        sign = builder.shl(builder.zext(words[1], ir.IntType(64)), ir.IntType(64)(63))
        return builder.bitcast(builder.xor(bits, sign), ir.DoubleType())

    return types.float64(types.float64, types.boolean), generate


# Upper half of the product of two uint64.
upper_word: Kernel = intrinsic(_upper_word)
# Number of leading zero bits of a uint64.
leading_zeros: Kernel = intrinsic(_leading_zeros)
# A uint64 reinterpreted as the float64 with the same bits.
float64_of_bits: Kernel = intrinsic(_float64_of_bits)
# A float64, negated if a condition holds, without a branch.
negated_if: Kernel = intrinsic(_negated_if)
