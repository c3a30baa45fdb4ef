"""How often somebody may do something."""

MOST_CALLERS = 10_000


class Buckets:
    """A token bucket a caller: so many requests at once, and so many a second in the long run.

    The generic cell rate algorithm (ITU-T I.371): all that is kept of a caller is the moment at which its
    bucket will be full again. The callers seen last are remembered; one that is forgotten begins with a
    full bucket, so that a crowd of addresses costs no memory and locks nobody out.

    Args:
        per_second: Tokens that a bucket gains a second.
        burst: Tokens in a full bucket, at least 1.
        most_callers: Callers remembered.
    """

    def __init__(self, per_second: float, burst: float, most_callers: int = MOST_CALLERS) -> None:
        self.per_second = per_second
        self._interval = 1.0 / per_second
        self._tolerance_seconds = (max(burst, 1.0) - 1.0) / per_second
        self._most_callers = most_callers
        self._full_at: dict[str, float] = {}  # in the order in which they were last seen

    def take(self, caller: str, now: float) -> float:
        """Take a token.

        Args:
            caller: Whose bucket.
            now: Seconds of a clock that never goes back.

        Returns:
            Seconds until there is a token, 0 where one was taken.
        """
        full_at = max(self._full_at.pop(caller, now), now)
        wait_seconds = full_at - now - self._tolerance_seconds
        self._full_at[caller] = full_at if wait_seconds > 0 else full_at + self._interval
        if len(self._full_at) > self._most_callers:
            del self._full_at[next(iter(self._full_at))]
        return max(wait_seconds, 0.0)

    def wait_seconds(self, caller: str, now: float) -> float:
        """Return the seconds until there is a token, 0 where there is one, without taking it."""
        return max(self._full_at.get(caller, now) - now - self._tolerance_seconds, 0.0)
