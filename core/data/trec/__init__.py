"""TREC's files: judgments (qrels), and the rankings of other systems (runs)."""

from core.data.trec.join import JudgedRun, join_run
from core.data.trec.qrels import write_qrels
from core.data.trec.run import Run, read_run, write_run
from core.data.trec.spelling import refuse_equal_spellings
