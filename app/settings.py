"""Settings of the API process."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, IPvAnyNetwork, SecretStr, field_validator
from pydantic_settings import NoDecode

from core.scoring.limits import MAX_STEPS
from core.store import StoreSettings
from core.store.settings import GIBIBYTE, MEBIBYTE

_ROOT_PATH = re.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")
_FERNET_KEY = re.compile(r"[A-Za-z0-9_-]{43}=")
# First segments of the application's paths; a root path that begins with one would be ambiguous.
_OWN_PATHS = frozenset(
    {
        "aliases",
        "click-logs",
        "comparisons",
        "datasets",
        "docs",
        "drift",
        "evaluations",
        "experiments",
        "guide",
        "healthz",
        "interleavings",
        "jobs",
        "metrics",
        "models",
        "openapi.json",
        "rankings",
        "readyz",
        "schedules",
        "settings",
        "sign-in",
        "sign-out",
        "static",
        "static-offline-docs",
        "studies",
        "train",
        "v1",
        "v2",
    }
)
_MAX_RETRY_SECONDS = 7 * 24 * 3_600


class ApiSettings(StoreSettings):
    """Settings of the API process, read from environment variables.

    Every field is also an environment variable: `max_upload_bytes` is `RANKERY_MAX_UPLOAD_BYTES`.
    """

    host: str = Field("127.0.0.1", description="Address that the API listens on")
    port: int = Field(8000, ge=0, le=65_535, description="Port that the API listens on; 0 picks a free one")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest severity of logged messages"
    )
    log_format: Literal["console", "json"] = Field("console", description="Format of log lines")
    compile_ahead: bool = Field(
        True, description="Compile kernels at the start; false: when a job or request needs them"
    )
    allowed_hosts: Annotated[list[str], NoDecode] = Field(
        [], description="Host names of the service, in addition to this machine's, separated by commas"
    )
    root_path: str = Field(
        "",
        max_length=200,
        description="Path of the host below which a proxy serves everything, such as `/rankery`",
    )
    trusted_proxies: Annotated[list[IPvAnyNetwork], NoDecode] = Field(
        [],
        description="Addresses or networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are"
        " trusted, separated by commas",
    )
    session_hours: float = Field(12, gt=0, le=8_760, description="Hours that a browser stays signed in")
    wrong_keys_per_minute: int = Field(20, ge=1, description="Wrong API keys allowed per address and minute")
    max_upload_bytes: int = Field(
        32 * GIBIBYTE,
        ge=1,
        description="Maximum size of an uploaded file, or of all files of a form together",
    )
    upload_hours: float = Field(
        24,
        gt=0,
        le=8_760,
        description="Hours after which a resumable upload is removed if nothing more arrives",
    )
    max_open_uploads: int = Field(
        20, ge=0, description="Maximum number of unused resumable uploads of an API key"
    )
    max_json_bytes: int = Field(MEBIBYTE, ge=1, description="Largest JSON body accepted")
    max_rank_bytes: int = Field(16 * MEBIBYTE, ge=1, description="Largest body of a scoring request")
    max_rank_queries: int = Field(1_000, ge=1, description="Maximum number of queries in a scoring request")
    max_rank_documents: int = Field(
        10_000, ge=1, description="Maximum number of documents in a scoring request"
    )
    max_rank_cells: int = Field(
        2**24,
        ge=1,
        description="Maximum number of cells of a scoring request: its documents times the model's features",
    )
    max_explained_documents: int = Field(
        200, ge=1, description="Maximum number of documents of a request with explanations"
    )
    max_explained_steps: int = Field(
        MAX_STEPS,
        ge=1,
        description="Maximum number of steps of about 5 ns for the explanations of a request",
    )
    model_cache_bytes: int = Field(GIBIBYTE, ge=0, description="Memory for cached models")
    score_log_share: float = Field(
        0,
        ge=0,
        le=1,
        description="Share of scoring requests stored with their scores,"
        " for drift jobs and in the data folder",
    )
    score_log_bytes: int = Field(
        GIBIBYTE,
        ge=1,
        description="Space for stored scoring requests in the data folder,"
        " and the same amount in the artifact storage",
    )
    score_log_seconds: float = Field(
        60, gt=0, le=3600, description="Seconds after which drift jobs can read stored scoring requests"
    )
    ranking_log_share: float = Field(
        0,
        ge=0,
        le=1,
        description="Share of users whose rankings are stored for click logs, if the request sets `keep`",
    )
    reads_per_second: float = Field(
        500, ge=0, allow_inf_nan=False, description="Reads per second and caller; 0 for no limit"
    )
    writes_per_second: float = Field(
        100, ge=0, allow_inf_nan=False, description="Writes per second and caller; 0 for no limit"
    )
    scores_per_second: float = Field(
        500, ge=0, allow_inf_nan=False, description="Scoring requests per second and caller; 0 for no limit"
    )
    expensive_reads_per_caller: int = Field(
        8,
        ge=1,
        description="Maximum number of concurrent expensive reads of a caller, such as exports, downloads and"
        " inspections",
    )
    burst_seconds: float = Field(
        2, gt=0, le=3600, description="Largest burst of requests, in seconds of the rate limit"
    )
    max_connections: int = Field(
        512, ge=1, description="Maximum number of connections; while there are more, requests get 503"
    )
    max_connections_per_address: int = Field(
        256, ge=1, description="Concurrent connections of an address; further ones get 429"
    )
    head_seconds: float = Field(10, gt=0, description="Timeout for the headers of a request")
    keep_alive_seconds: int = Field(
        75,
        ge=0,
        description="Idle timeout of a connection; set it longer than the idle timeout of clients",
    )
    body_idle_seconds: float = Field(30, gt=0, description="Idle timeout while a request body is received")
    min_body_bytes_per_second: int = Field(
        1024,
        ge=0,
        description="Minimum transfer rate of a request body after `RANKERY_BODY_IDLE_SECONDS`",
    )
    max_stored_bytes: int | None = Field(
        None,
        ge=0,
        description="Default limit for the total bytes of the datasets, click logs and open uploads of an"
        " API key; unset: none",
    )
    encryption_keys: Annotated[list[SecretStr], NoDecode] = Field(
        [],
        description="Keys that encrypt the secrets of webhooks in the database, 32 bytes in URL-safe base64"
        " each, separated by commas: the first encrypts, all decrypt",
    )
    webhook_timeout_seconds: float = Field(
        10, gt=0, le=60, description="Timeout of a request to a webhook's receiver"
    )
    webhook_retry_seconds: Annotated[list[float], NoDecode] = Field(
        [5, 30, 120, 600, 3_600, 21_600, 86_400],
        description="Seconds before each repeated attempt to deliver an event to a webhook, separated by"
        " commas",
    )
    min_free_bytes: int = Field(256 * MEBIBYTE, ge=0, description="Disk space that uploads keep free")

    @field_validator("root_path")
    @classmethod
    def _without_last_slash(cls, value: str) -> str:
        """Drop trailing slashes; refuse an invalid path, and one that would hide the application's paths."""
        path = value.rstrip("/")
        if path and not _ROOT_PATH.fullmatch(path):
            raise ValueError(
                "must be a path such as /rankery: letters, digits, '-', '_' and '.' between slashes"
            )
        if path.partition("/")[2].partition("/")[0] in _OWN_PATHS:
            raise ValueError(f"must not begin with a path of the service: {', '.join(sorted(_OWN_PATHS))}")
        return path

    @field_validator("encryption_keys", mode="after")
    @classmethod
    def _keys(cls, value: list[SecretStr]) -> list[SecretStr]:
        """Refuse texts that are not Fernet keys."""
        if not all(_FERNET_KEY.fullmatch(key.get_secret_value()) for key in value):
            raise ValueError(
                "must be keys of 32 bytes in URL-safe base64, such as `openssl rand -base64 32 | tr +/ -_`"
                " prints"
            )
        return value

    @field_validator("webhook_retry_seconds", mode="after")
    @classmethod
    def _bounded_delays(cls, value: list[float]) -> list[float]:
        """Refuse delays that are negative or longer than a week."""
        if not all(0 <= seconds <= _MAX_RETRY_SECONDS for seconds in value):
            raise ValueError(f"must be seconds from 0 to {_MAX_RETRY_SECONDS:,}")
        return value

    @field_validator(
        "allowed_hosts", "encryption_keys", "trusted_proxies", "webhook_retry_seconds", mode="before"
    )
    @classmethod
    def _split_at_commas(cls, value: Any) -> Any:
        """Split a comma-separated environment variable."""
        if not isinstance(value, str):
            return value
        return [part.strip() for part in value.split(",") if part.strip()]
