"""The environment variables that the service's processes read."""

from pydantic_settings import BaseSettings

from app.settings import ApiSettings
from core.store import StoreSettings
from worker.settings import WorkerSettings

_SETTINGS: tuple[type[BaseSettings], ...] = (StoreSettings, ApiSettings, WorkerSettings)


def settings_names() -> set[str]:
    """Return every `RANKERY_…` variable that a process reads."""
    return {f"RANKERY_{name}".upper() for settings in _SETTINGS for name in settings.model_fields}
