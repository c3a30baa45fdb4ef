"""Run short scoring work on the event loop, and other work in threads.

Work of up to a few milliseconds may block the event loop, which avoids two thread switches of about 0.1
milliseconds each. The limits count documents and features, since a small body may have many of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from app.http.thread_pools import SCORING, Result
from app.scoring.served_models import ServedModel

# Limits of a request that is processed on the event loop.
MAX_INLINE_JSON_BYTES = 2**19
MAX_INLINE_TABLE_BYTES = 2**16
_MAX_INLINE_VALUES = 2**18  # documents times features
_MAX_INLINE_DOCUMENTS = 2**10
# Tree splits for all documents. A split takes about 1 ns, see docs/adr/0018-forest-scoring-kernel.md.
_MAX_INLINE_SPLITS = 2**22  # about 4 ms: 2**18 descents through trees of 16 levels
_MAX_TINY_SPLITS = 2**16  # less than 0.1 ms, the time of a switch to a thread


@dataclass(frozen=True)
class Work(Generic[Result]):
    """A function with an estimate of its run time.

    Attributes:
        fits_event_loop: Whether it is short enough for the event loop.
        is_tiny: Whether it takes less time than the switch to a thread.
    """

    run: Callable[[], Result]
    fits_event_loop: bool
    is_tiny: bool = False


async def run_inline_or_threaded(work: Callable[[], Result], *, fits_event_loop: bool) -> Result:
    """Run a function, on the event loop if it is short enough, else in a thread."""
    return work() if fits_event_loop else await SCORING.run(work)


async def run_side_by_side(works: Sequence[Work[Result]]) -> list[Result]:
    """Run functions concurrently: the last on the event loop if it is short enough, the others in threads.

    Tiny functions run on the event loop, one after another.
    """
    started = {index: SCORING.start(work.run) for index, work in enumerate(works[:-1]) if not work.is_tiny}
    results = {}
    for index, work in reversed(list(enumerate(works))):
        if index in started:
            results[index] = await started[index]
        else:
            results[index] = await run_inline_or_threaded(work.run, fits_event_loop=work.fits_event_loop)
    return [results[index] for index in range(len(works))]


def inline_documents(model: ServedModel) -> int:
    """Return the limit of documents to read on the event loop."""
    return min(_MAX_INLINE_DOCUMENTS, _MAX_INLINE_VALUES // len(model.feature_names))


def scores_inline(model: ServedModel, n_documents: int) -> bool:
    """Return whether a request of this many documents can be scored on the event loop."""
    return n_documents <= inline_documents(model) and n_documents * model.scorer.steps <= _MAX_INLINE_SPLITS


def scoring_work(run: Callable[[], Result], model: ServedModel, n_documents: int) -> Work[Result]:
    """Wrap a scoring function with an estimate of its run time for this many documents."""
    is_short = scores_inline(model, n_documents)
    return Work(run, is_short, is_short and n_documents * model.scorer.steps <= _MAX_TINY_SPLITS)
