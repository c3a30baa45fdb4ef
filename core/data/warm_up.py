"""Compile, or load from the disk cache, the kernels that read files."""

import numpy as np

from core.data.letor import read_letor
from core.data.lightgbm import read_lightgbm
from core.data.options import ReadingOptions
from core.data.tables.delimited import DelimitedTable
from core.data.trec.qrels import read_qrels

_LETOR = b"1 qid:1 1:0.5 # a b = 1\n0 qid:2 2:1e-3\n2 qid:1 1:3\n"


def letor() -> None:
    """Read a tiny file of LETOR text and a tiny file of LightGBM text."""
    read_letor(np.frombuffer(_LETOR, np.uint8), "warm-up", ReadingOptions(repeated_features="reject"))
    read_lightgbm(np.frombuffer(b"1 1:0.5\n", np.uint8), "warm-up", np.array([1]))


def other_readers() -> None:
    """Run every other reader that has a separate kernel on a tiny file."""
    table = DelimitedTable(np.frombuffer(b"label,qid,x\n1,1,y\n", np.uint8), "warm-up", ",")
    table.lines([0])
    read_qrels(np.frombuffer(b"q 0 d 1\n", np.uint8), "warm-up")
