"""The settings of the connection to a Dask cluster."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from app.settings import ApiSettings
from worker import WorkerSettings

FILES = {f"dask_tls_{name}_file": Path(f"{name}.pem") for name in ("ca", "cert", "key")}


@pytest.mark.parametrize("missing", FILES)
def test_encrypted_connections_need_all_files(missing: str) -> None:
    """The error names the missing variable."""
    files = {name: path for name, path in FILES.items() if name != missing}
    with pytest.raises(ValidationError, match="must be set if the scheduler has a tls:// address") as raised:
        WorkerSettings.model_validate({"dask_scheduler": "tls://scheduler:8786", **files})
    assert [error["loc"] for error in raised.value.errors()] == [(missing,)]


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.1:8786", "tcp://scheduler:8786", "tcp://[2001:db8::1]:8786"]
)
def test_plain_connections_beyond_this_machine_are_refused(address: str) -> None:
    """A scheduler runs code from any client, so connections to other machines must use TLS."""
    with pytest.raises(ValidationError, match="must be tls:// unless the scheduler is on this machine"):
        WorkerSettings(dask_scheduler=address)


@pytest.mark.parametrize(
    "address", ["scheduler:8786", "ws://localhost:8786", "tls://scheduler", "tcp://:8786"]
)
def test_other_addresses_are_refused(address: str) -> None:
    """The message shows a valid form."""
    with pytest.raises(ValidationError, match="must be tls://HOST:PORT"):
        WorkerSettings.model_validate({"dask_scheduler": address, **FILES})


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://localhost:8786", "tcp://[::1]:8786"])
def test_loopback_addresses_need_no_certificates(address: str) -> None:
    """Other machines cannot connect to a scheduler on a loopback address."""
    assert WorkerSettings(dask_scheduler=address).dask_scheduler == address


def test_only_the_worker_has_the_dask_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The API ignores Dask variables in its environment."""
    monkeypatch.setenv("RANKERY_DASK_SCHEDULER", "tls://scheduler:8786")
    for name, path in FILES.items():
        monkeypatch.setenv(f"RANKERY_{name}".upper(), str(path))
    assert WorkerSettings().dask_tls_key_file == FILES["dask_tls_key_file"]
    assert not any("dask" in name for name in ApiSettings.model_fields)
    monkeypatch.delenv("RANKERY_DASK_TLS_KEY_FILE")
    ApiSettings()
