"""Settings of the database, artifacts, broker, files to import, quotas and retention."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from core.errors import InvalidInput
from core.outbound.guard import SsrfGuard
from core.store.sources.source_urls import AllowedUrls

MEBIBYTE = 2**20
GIBIBYTE = 2**30
_BUCKET = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,62}(/[^/]+)*/?")
DEFAULT_BROKER_URL = "redis://127.0.0.1:6379/0"


def _database_url(fields: dict[str, Any]) -> str:
    folder = str(fields["data_dir"].absolute()).replace("%", "%25").replace("?", "%3F")
    return f"sqlite:///{folder}/rankery.db"


def _storage_url(fields: dict[str, Any]) -> str:
    return f"file://{fields['data_dir'].absolute()}/artifacts"


def _parts(text: str) -> list[str]:
    """Split a comma-separated text, without empty parts."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _retention(description: str, default: float | None = None) -> Any:
    return Field(default=default, gt=0, le=36_500, description=description)


class StoreSettings(BaseSettings):
    """Settings of the store, read from `RANKERY_…` variables.

    Attributes:
        data_dir: Folder of the embedded database and artifacts, and of caches.
        database_url: `sqlite:///path` or `postgresql://…`; a SQLite file in `data_dir` if unset.
        storage_url: Any URL that fsspec supports, `file://…` or `s3://bucket/prefix`; a folder in `data_dir`
            if unset. Credentials, region and endpoint of S3 are read from the standard AWS variables and
            files.
        storage_patience_seconds: How long failed requests to a storage on the network are retried.
        broker_url: The Valkey or Redis for notifications.
        outbound_allowed: Networks, addresses and host names to which requests may be made although they are
            not public, see `core.outbound`.
        data_roots: Folders on the disks of the API and of the workers, and folders of buckets as
            `s3://bucket/prefix`, whose judged files may all be read. Credentials are read as for S3 above.
        sources: Prefixes of the URLs that requests may name, see `core.store.sources.source_urls`.
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
        description="URL of the artifact storage, for fsspec; unset: artifacts in the data folder",
    )
    storage_patience_seconds: float = Field(
        default=5.0, ge=0, description="Seconds of retries when a remote artifact storage fails"
    )
    broker_url: str = Field(default=DEFAULT_BROKER_URL, description="Valkey or Redis for notifications")
    data_roots: Annotated[list[Path | str], NoDecode] = Field(
        default=[],
        description="Folders and s3://bucket/prefix from which datasets are read in place, without an upload,"
        " separated by commas",
    )
    sources: Annotated[list[str], NoDecode] = Field(
        default=[],
        description="Prefixes of URLs that datasets may be imported from, such as s3://bucket/prefix,"
        " https://data.example.org/ or hf://datasets/ORG, separated by commas",
    )
    outbound_allowed: Annotated[list[str], NoDecode] = Field(
        default=[],
        description="Private networks, IP addresses and host names that webhooks and downloads may connect"
        " to, separated by commas",
    )

    max_active_jobs: int = Field(
        default=1_000, ge=0, description="Default limit for waiting and running jobs of an API key"
    )
    trash_days: float = Field(
        default=7,
        ge=0,
        le=3650,
        description="Days that deleted objects stay in the trash; 0 deletes them immediately",
    )
    retention_jobs_days: float | None = _retention(
        "Days that jobs without remaining results are kept after their end; unset: for ever"
    )
    retention_models_days: float | None = _retention(
        "Days that models without an alias, a `keep` tag or results are kept; unset: for ever"
    )
    retention_evaluations_days: float | None = _retention("Days that evaluations are kept; unset: for ever")
    retention_comparisons_days: float | None = _retention("Days that comparisons are kept; unset: for ever")
    retention_rankings_days: float | None = _retention("Days that rankings are kept; unset: for ever")
    retention_inspections_days: float | None = _retention("Days that inspections are kept; unset: for ever")
    retention_experiments_days: float | None = _retention(
        "Days that experiments are kept after their end; their jobs stay; unset: for ever"
    )
    retention_click_logs_days: float | None = _retention(
        "Days that click logs of served rankings and interleaved lists are kept; unset: for ever"
    )
    retention_served_rankings_days: float = _retention(
        "Days that served rankings and their events are kept", default=90
    )
    retention_interleaved_lists_days: float | None = _retention(
        "Days that interleaved lists are kept; their credits stay; unset: for ever"
    )
    retention_audit_days: float | None = _retention("Days that audit entries are kept; unset: for ever")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic passes it
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        *_: PydanticBaseSettingsSource,
        **__: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments and variables only; the other sources read files, which took half of the time."""
        return init_settings, env_settings

    @field_validator("storage_url")
    @classmethod
    def _without_special_characters(cls, value: str) -> str:
        """Refuse characters by which fsspec would read or delete other files than those of the URL."""
        special = ("::",) if value.startswith("file://") else ("::", "*", "?", "[")
        path = value.split("://", 1)[-1]  # a chain of file systems may begin as in simplecache::s3://bucket
        for characters in special:
            if characters in path:
                raise ValueError(f"must be a URL without {' '.join(special)}; found {value}")
        return value

    @field_validator("data_roots", mode="before")
    @classmethod
    def _paths(cls, value: Any) -> Any:
        """Split a comma-separated environment variable into folders and URLs of buckets."""
        if not isinstance(value, str):
            return value
        parts = _parts(value)
        for part in parts:
            if "://" in part and not _BUCKET.fullmatch(part):
                raise ValueError(f"must be folders, or URLs such as s3://bucket/prefix; found {part}")
        return [part.rstrip("/") if "://" in part else Path(part) for part in parts]

    @field_validator("sources", mode="before")
    @classmethod
    def _prefixes(cls, value: Any) -> Any:
        """Split a comma-separated environment variable, and refuse invalid addresses."""
        if isinstance(value, str):
            value = _parts(value)
        try:
            AllowedUrls(value)
        except InvalidInput as invalid:
            raise ValueError(invalid.problems[0].detail) from invalid
        return value

    @field_validator("outbound_allowed", mode="before")
    @classmethod
    def _allowed(cls, value: Any) -> Any:
        """Split a comma-separated environment variable, and refuse invalid networks and hosts."""
        if isinstance(value, str):
            value = _parts(value)
        SsrfGuard(value)
        return value

    @property
    def database_file(self) -> Path | None:
        """Return the file of a SQLite database; None for another database, or a URL that names no file."""
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        try:
            url = make_url(self.database_url)
        except ArgumentError:
            return None
        return Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
