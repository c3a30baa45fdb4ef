"""The store: the database, and artifacts by key."""

from typing import Self

from sqlalchemy import Engine

from core.errors import StoreUnavailable
from core.store import engines
from core.store.artifacts.artifacts import Artifacts
from core.store.database import Database
from core.store.settings import StoreSettings
from core.store.verified_artifacts import VerifiedArtifacts


class Store(Database):
    """The database and the artifacts.

    Attributes:
        verified: The artifacts, verified by their checksums.
    """

    def __init__(self, engine: Engine, artifacts: Artifacts, lock_seconds: float) -> None:
        super().__init__(engine, lock_seconds)
        self.artifacts = artifacts
        self.verified = VerifiedArtifacts(artifacts, self)

    @classmethod
    def open(cls, settings: StoreSettings, *, lock_seconds: int = engines.LOCK_SECONDS) -> Self:
        """Open the store of the settings; call `migrate` before the first use.

        Args:
            lock_seconds: How long a write waits for a lock that another transaction holds.

        Raises:
            StoreUnavailable: A URL cannot be parsed or the folder cannot be created.
            ExtraMissing: The package for a URL is not installed.
        """
        try:
            artifacts = Artifacts(settings.storage_url, settings.storage_patience_seconds)
            return cls(engines.open_engine(settings.database_url, lock_seconds), artifacts, lock_seconds)
        except OSError as error:
            raise StoreUnavailable(f"the data folder cannot be used: {error}") from error
