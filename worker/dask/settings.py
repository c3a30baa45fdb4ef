"""Settings of connections between processes: ports, and the Dask cluster."""

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.outbound.guard import MAX_PORT
from rankery.loopback import is_loopback

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


_TLS = "tls://"


class DaskSettings(PortSettings):
    """Address and certificates of the Dask scheduler, read from `RANKERY_…` variables.

    A scheduler runs the code of all clients that connect. Certificates are therefore required, except at a
    loopback address.
    """

    model_config = SettingsConfigDict(env_prefix="RANKERY_", env_ignore_empty=True, extra="ignore")

    dask_scheduler: str | None = Field(
        None,
        description="Dask scheduler for distributed jobs, `tls://HOST:PORT`, or `tcp://` to a loopback"
        " address; unset: all work on this machine",
    )
    dask_tls_ca_file: Path | None = Field(
        None,
        validate_default=True,
        description="CA certificate of the Dask cluster, PEM; holders of a certificate signed by this CA"
        " may run code in the cluster",
    )
    dask_tls_cert_file: Path | None = Field(
        None, validate_default=True, description="Certificate of this process in the Dask cluster, PEM"
    )
    dask_tls_key_file: Path | None = Field(
        None, validate_default=True, description="Private key of `RANKERY_DASK_TLS_CERT_FILE`, PEM"
    )

    @field_validator("dask_scheduler")
    @classmethod
    def _address(cls, address: str | None) -> str | None:
        """Accept only encrypted connections, and unencrypted ones to a loopback address."""
        if address is None:
            return None
        scheme, separator, authority = address.partition("://")
        host, colon, port = authority.rpartition(":")
        if not (separator and colon and host and port.isdecimal() and scheme in ("tls", "tcp")):
            raise ValueError(f"must be tls://HOST:PORT, or tcp:// to a loopback address; found {address}")
        if scheme == "tcp" and not is_loopback(host):
            raise ValueError(
                "must be tls:// unless the scheduler is on this machine, since it runs the code of all"
                f" clients; found {address}"
            )
        return address

    @field_validator("dask_tls_ca_file", "dask_tls_cert_file", "dask_tls_key_file")
    @classmethod
    def _required_for_tls(cls, path: Path | None, settings: ValidationInfo) -> Path | None:
        """Require all certificate files if connections are encrypted."""
        if path is None and (settings.data.get("dask_scheduler") or "").startswith(_TLS):
            raise ValueError("must be set if the scheduler has a tls:// address")
        return path
