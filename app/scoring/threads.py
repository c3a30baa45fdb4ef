"""Decide which work runs on the event loop and which in a thread.

About two milliseconds of work cost less than the thread that would take them over. Only work whose size is
known beforehand runs inline: a body of a few kilobytes may encode many documents and features.
"""

from collections.abc import Callable

from app.http.thread_pools import SCORING, Result
from app.scoring.served_models import ServedModel

BRIEF_TEXT_BYTES = 2**19
BRIEF_TABLE_BYTES = 2**16
_BRIEF_VALUES = 2**18  # documents times features
_BRIEF_DOCUMENTS = 2**10
_BRIEF_SPLITS = 2**22  # that documents may pass: 2**18 descents through trees of 16 levels


async def run_brief_or_threaded(work: Callable[[], Result], *, is_brief: bool) -> Result:
    """Run a function, on the event loop if it is brief."""
    return work() if is_brief else await SCORING.run(work)


def brief_documents(model: ServedModel) -> int:
    """Return how many documents can be prepared on the event loop."""
    return min(_BRIEF_DOCUMENTS, _BRIEF_VALUES // len(model.feature_names))


def scores_briefly(model: ServedModel, n_documents: int) -> bool:
    """Return whether so many documents can be scored on the event loop."""
    return n_documents <= brief_documents(model) and n_documents * model.scorer.steps <= _BRIEF_SPLITS
