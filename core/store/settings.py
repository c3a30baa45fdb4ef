"""Settings of the database, artifacts and broker."""

from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

DEFAULT_BROKER_URL = "redis://127.0.0.1:6379/0"


def _database_url(known: dict[str, Any]) -> str:
    return f"sqlite:///{known['data_dir'].absolute()}/rankery.db"


def _storage_url(known: dict[str, Any]) -> str:
    return f"file://{known['data_dir'].absolute()}/artifacts"


class StoreSettings(BaseSettings):
    """Settings of the store, read from `RANKERY_…` variables.

    Attributes:
        data_dir: Folder of the embedded database and artifacts; also the home of caches.
        database_url: `sqlite:///path` or `postgresql://…`; a SQLite file in `data_dir` if unset.
        storage_url: Any URL that fsspec knows, `file://…` or `s3://bucket/prefix`; a folder in `data_dir`
            if unset. Credentials, region and endpoint of S3 are read where every AWS library reads them.
        storage_patience_seconds: How long a storage on the network that fails is asked again.
        broker_url: The Valkey or Redis that carries wake-up messages.
    """

    model_config = SettingsConfigDict(env_prefix="RANKERY_", env_ignore_empty=True, extra="ignore")

    data_dir: Path = Field(
        default=Path("rankery-data"), description="Folder of the embedded database and artifacts"
    )
    database_url: str = Field(
        default_factory=_database_url,
        description="SQLite or PostgreSQL URL; unset: rankery.db in the data folder",
    )
    storage_url: str = Field(
        default_factory=_storage_url,
        description="Artifact storage, a URL fsspec knows; unset: artifacts in the data folder",
    )
    storage_patience_seconds: float = Field(
        default=5.0, ge=0, description="How long an artifact storage on the network that fails is asked again"
    )
    broker_url: str = Field(
        default=DEFAULT_BROKER_URL, description="Valkey or Redis that carries wake-up messages"
    )
