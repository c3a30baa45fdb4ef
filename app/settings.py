"""Settings of the API process."""

from typing import Annotated, Any, Literal

from pydantic import Field, IPvAnyNetwork, field_validator
from pydantic_settings import NoDecode

from core.scoring.contributions import MAX_STEPS
from core.store import StoreSettings

MEBIBYTE = 2**20
GIBIBYTE = 2**30


class ApiSettings(StoreSettings):
    """Settings of the API process, read from environment variables.

    Every field is also an environment variable: `max_upload_bytes` is `RANKERY_MAX_UPLOAD_BYTES`.
    """

    host: str = Field("127.0.0.1", description="Address that the API listens on")
    port: int = Field(8000, ge=0, le=65_535, description="Port that the API listens on; 0 picks a free one")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe message that is logged"
    )
    log_format: Literal["console", "json"] = Field("console", description="How log lines are written")
    allowed_hosts: Annotated[list[str], NoDecode] = Field(
        [], description="Names that the service goes by beyond this machine's own, separated by commas"
    )
    trusted_proxies: Annotated[list[IPvAnyNetwork], NoDecode] = Field(
        [],
        description="Addresses or networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count,"
        " separated by commas",
    )
    session_hours: float = Field(
        12, gt=0, le=8_760, description="How long a browser that signed in may stay signed in"
    )
    wrong_keys_per_minute: int = Field(20, ge=1, description="Wrong API keys an address may show a minute")
    max_upload_bytes: int = Field(32 * GIBIBYTE, ge=1, description="Largest dataset file accepted")
    max_json_bytes: int = Field(MEBIBYTE, ge=1, description="Largest JSON body accepted")
    max_rank_bytes: int = Field(16 * MEBIBYTE, ge=1, description="Largest body of a scoring request")
    max_rank_queries: int = Field(1_000, ge=1, description="Most queries of a scoring request")
    max_rank_documents: int = Field(10_000, ge=1, description="Most documents of a scoring request")
    max_rank_cells: int = Field(
        2**24, ge=1, description="Most documents of a scoring request times features of the model"
    )
    max_explained_documents: int = Field(
        200, ge=1, description="Most documents whose scores one request has explained"
    )
    max_explained_steps: int = Field(
        MAX_STEPS, ge=1, description="Most steps to explain the scores of one request, of about 5 ns each"
    )
    model_cache_bytes: int = Field(GIBIBYTE, ge=0, description="Memory for models kept for scoring")
    score_log_share: float = Field(
        0, ge=0, le=1, description="Share of scoring requests kept in the data folder with their scores"
    )
    score_log_bytes: int = Field(GIBIBYTE, ge=1, description="Disk for scoring requests that are kept")
    reads_per_second: float = Field(
        500, ge=0, allow_inf_nan=False, description="Reads a second and caller; 0 for no bound"
    )
    writes_per_second: float = Field(
        100, ge=0, allow_inf_nan=False, description="Writes a second and caller; 0 for no bound"
    )
    scores_per_second: float = Field(
        500, ge=0, allow_inf_nan=False, description="Scoring requests a second and caller; 0 for no bound"
    )
    expensive_reads_per_caller: int = Field(
        8,
        ge=1,
        description="Exports, downloads and looks inside models that one caller has under way",
    )
    burst_seconds: float = Field(
        2, gt=0, le=3600, description="How many seconds' worth of requests may come at once"
    )
    max_connections: int = Field(512, ge=1, description="Connections at a time; more are answered 503")
    max_connections_per_address: int = Field(
        256, ge=1, description="Connections of one address at a time; more are answered 429"
    )
    head_seconds: float = Field(10, gt=0, description="How long a client may take to send a request's head")
    keep_alive_seconds: int = Field(
        75,
        ge=0,
        description="How long a connection stays open between two requests; longer than its clients keep it",
    )
    body_idle_seconds: float = Field(
        30, gt=0, description="How long a body may stand still on its way in or out"
    )
    min_body_bytes_per_second: int = Field(
        1024, ge=0, description="Slowest that a body may arrive once it has been awaited so long"
    )
    max_active_jobs: int = Field(
        1_000, ge=0, description="Most jobs of one key that wait or run, where the key says nothing else"
    )
    max_stored_bytes: int | None = Field(
        None, ge=0, description="Most bytes of one key's uploaded datasets, where the key says nothing else"
    )
    min_free_bytes: int = Field(
        256 * MEBIBYTE, ge=0, description="Space that uploads leave free on the disk they go to"
    )

    @field_validator("allowed_hosts", "trusted_proxies", mode="before")
    @classmethod
    def _parts(cls, value: Any) -> Any:
        """Split a comma-separated environment variable."""
        if not isinstance(value, str):
            return value
        return [part.strip() for part in value.split(",") if part.strip()]
