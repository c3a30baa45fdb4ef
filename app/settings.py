"""Settings of the API process."""

from typing import Literal

from pydantic import Field

from core.store import StoreSettings

MEBIBYTE = 2**20
GIBIBYTE = 2**30


class ApiSettings(StoreSettings):
    """What the API process reads from the environment, on top of where its data lives.

    Every field is also an environment variable: `max_upload_bytes` is `RANKERY_MAX_UPLOAD_BYTES`.
    """

    host: str = Field("127.0.0.1", description="Address that the API listens on")
    port: int = Field(8000, ge=0, le=65_535, description="Port that the API listens on; 0 picks a free one")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe message that is logged"
    )
    log_format: Literal["console", "json"] = Field("console", description="How log lines are written")
    max_upload_bytes: int = Field(8 * GIBIBYTE, ge=1, description="Largest dataset file accepted")
    max_json_bytes: int = Field(MEBIBYTE, ge=1, description="Largest JSON body accepted")
    max_rank_bytes: int = Field(16 * MEBIBYTE, ge=1, description="Largest body of a scoring request")
    model_cache_size: int = Field(16, ge=1, description="Models kept in memory for scoring")
