"""Ports at which the processes of a distributed training listen, for firewalls that open only a few."""

import re
from collections.abc import Sequence

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.outbound.guard import MAX_PORT

ANY_PORT: Sequence[int] = (0,)  # the kernel chooses a free port


class PortSettings(BaseSettings):
    """Range of ports, read from `RANKERY_RANK_PORTS`; ranks use the range of their rank worker."""

    model_config = SettingsConfigDict(env_prefix="RANKERY_", env_ignore_empty=True, extra="ignore")

    rank_ports: str | None = Field(
        None,
        description="Port range for ranks, rank workers and drivers of distributed trainings, such as"
        " `47000-47099`, with one port per process; unset: any free port",
    )

    @field_validator("rank_ports")
    @classmethod
    def _range(cls, text: str | None) -> str | None:
        """Accept a first and a last port."""
        match = text is not None and re.fullmatch(r"(\d{1,5})-(\d{1,5})", text)
        if text is not None and not (match and 0 < int(match[1]) <= int(match[2]) <= MAX_PORT):
            raise ValueError(f"must be FIRST-LAST, ports from 1 to {MAX_PORT}; found {text}")
        return text

    @property
    def ports(self) -> Sequence[int]:
        """Ports to try one after the other; 0 is any free port."""
        if self.rank_ports is None:
            return ANY_PORT
        first, last = map(int, self.rank_ports.split("-"))
        return range(first, last + 1)
