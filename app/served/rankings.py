"""Store a share of the rankings that models serve, with hashes of the users."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.served.writer import ListWriter, PendingList
from core.store import new_id
from core.store.clock import utc_now
from core.store.repositories.ids import SERVED_RANKING

_LENGTH = 32


class UserHashes:
    """Pseudonymise users and sessions by HMAC with a random key of the database.

    Without the key a hash cannot be matched with guessed names; with the key it can.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, *parts: str) -> str:
        """Return the first 32 hexadecimal digits of the HMAC-SHA256 of texts."""
        message = "\x1f".join(parts).encode(errors="surrogatepass")
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()[:_LENGTH]


MAX_DOCUMENTS = 200  # stored per ranking
_DIGITS = 8


@dataclass(frozen=True)
class Viewer:
    """The user and session that see a ranking; an empty text is none, as in click logs.

    Attributes:
        session: Any text that identifies the user's visit, or None.
    """

    user: str | None = None
    session: str | None = None

    def __post_init__(self) -> None:
        """Replace empty texts, which pages send for every anonymous user."""
        for name in ("user", "session"):
            if not (getattr(self, name) or "").strip():
                object.__setattr__(self, name, None)


class RankingLog:
    """Store the rankings of a share of the users, or of the sessions without a user: all or none of each.

    Args:
        users: Hashes users and sessions.
        share: The share, from 0 to 1.
    """

    def __init__(self, writer: ListWriter, users: UserHashes, share: float) -> None:
        self._writer = writer
        self._users = users
        self._share = share

    def keep(
        self, name: str, version: int, viewer: Viewer, rankings: Iterable[tuple[str, Sequence[str]]]
    ) -> list[str] | None:
        """Store the rankings of a request; return their ids, or None if they are not stored.

        Args:
            viewer: User and session that see the rankings.
            rankings: Query and documents, best first, of each ranking.
        """
        user = None if viewer.user is None else self._users.of("user", viewer.user)
        session = None if viewer.session is None else self._users.of("session", viewer.session)
        if not self._is_sampled(user or session):
            return None
        now = utc_now()
        rows = [
            {
                "id": new_id(SERVED_RANKING),
                "name": name,
                "version": version,
                "user": user,
                "session": session,
                "content": {"query": query, "documents": list(documents[:MAX_DOCUMENTS])},
                "created_at": now,
            }
            for query, documents in rankings
        ]
        if not self._writer.put(*(PendingList("rankings", row) for row in rows)):
            return None
        return [str(row["id"]) for row in rows]

    def _is_sampled(self, viewer_hash: str | None) -> bool:
        digits = secrets.token_hex(_DIGITS) if viewer_hash is None else viewer_hash
        return int(digits[:_DIGITS], 16) / float(16**_DIGITS) < self._share
