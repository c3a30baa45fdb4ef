"""Settings of the store."""

from pathlib import Path

import pytest

from core.store import StoreSettings


def test_by_default_the_store_is_in_the_data_folder(tmp_path: Path) -> None:
    """By default, database and artifacts are in the data folder and the broker is on this machine."""
    settings = StoreSettings(data_dir=tmp_path)
    assert settings.database_url == f"sqlite:///{tmp_path}/rankery.db"
    assert settings.storage_url == f"file://{tmp_path}/artifacts"
    assert settings.broker_url == "redis://127.0.0.1:6379/0"


def test_a_relative_folder_is_made_absolute() -> None:
    """URLs do not change their meaning when the process changes its working folder."""
    assert StoreSettings(data_dir=Path("here")).database_url == f"sqlite:///{Path.cwd()}/here/rankery.db"


@pytest.mark.parametrize(
    "url",
    [
        *("s3://bucket/[a]", "s3://bucket/a*", "gs://bucket/a?b", "file:///a::b"),
        *("s3://bucket/a::b", "memory://a::file:///b", "/a::b", "simplecache::s3://bucket/a::b"),
    ],
)
def test_a_storage_whose_files_would_be_confused_is_refused(url: str) -> None:
    """On buckets fsspec deletes by pattern, and two colons chain its URLs; other characters are plain."""
    with pytest.raises(ValueError, match="must be a URL without"):
        StoreSettings(storage_url=url)
    with pytest.raises(ValueError, match="must be a URL without ::"):
        StoreSettings(data_dir=Path("/a::b"))
    assert StoreSettings(data_dir=Path("/a?[b]* 100%#")).storage_url == "file:///a?[b]* 100%#/artifacts"
    assert StoreSettings(storage_url="simplecache::s3://bucket/a")  # a chain whose beginning is no path


def test_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are read from RANKERY_ variables; an empty one counts as unset."""
    monkeypatch.setenv("RANKERY_DATABASE_URL", "postgresql://db/rankery")
    monkeypatch.setenv("RANKERY_STORAGE_URL", "s3://bucket/rankery")
    monkeypatch.setenv("RANKERY_BROKER_URL", "")
    settings = StoreSettings()
    assert settings.database_url == "postgresql://db/rankery"
    assert settings.storage_url == "s3://bucket/rankery"
    assert settings.broker_url == "redis://127.0.0.1:6379/0"
