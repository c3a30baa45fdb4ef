"""What is carried out at once, and what in a thread, so that other requests need not wait for it.

About two milliseconds of work cost less than the thread that would take them over.
"""

from collections.abc import Callable

from app.threads import SCORING, Result

BRIEF_TEXT_BYTES = 2**19
BRIEF_TABLE_BYTES = 2**16
BRIEF_DESCENTS = 2**18  # of documents through trees


async def carried_out(work: Callable[[], Result], *, is_brief: bool) -> Result:
    """Do a piece of work and return its result."""
    return work() if is_brief else await SCORING.run(work)
