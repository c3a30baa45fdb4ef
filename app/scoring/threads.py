"""Run short scoring work on the event loop, and other work in a thread.

Two milliseconds of work cost less than the switch to a thread. Only work of known size runs on the event
loop: a body of a few kilobytes may have many documents and features.
"""

from collections.abc import Callable

from app.http.thread_pools import SCORING, Result
from app.scoring.served_models import ServedModel

INLINE_TEXT_BYTES = 2**19
INLINE_TABLE_BYTES = 2**16
_INLINE_VALUES = 2**18  # documents times features
_INLINE_DOCUMENTS = 2**10
_INLINE_SPLITS = 2**22  # that documents may pass: 2**18 descents through trees of 16 levels


async def run_inline_or_threaded(work: Callable[[], Result], *, fits_event_loop: bool) -> Result:
    """Run a function, on the event loop if it is short enough, else in a thread."""
    return work() if fits_event_loop else await SCORING.run(work)


def inline_documents(model: ServedModel) -> int:
    """Return the limit of documents to read on the event loop."""
    return min(_INLINE_DOCUMENTS, _INLINE_VALUES // len(model.feature_names))


def scores_inline(model: ServedModel, n_documents: int) -> bool:
    """Return whether so many documents can be scored on the event loop."""
    return n_documents <= inline_documents(model) and n_documents * model.scorer.steps <= _INLINE_SPLITS
