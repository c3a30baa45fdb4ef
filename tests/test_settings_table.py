"""The table of settings in the documentation."""

from pathlib import Path

from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings

from app.settings import ApiSettings
from core.store import StoreSettings
from worker import WorkerSettings

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"
PROCESSES: dict[str, type[BaseSettings]] = {"API": ApiSettings, "worker": WorkerSettings}


def rows() -> list[str]:
    """Return a row per setting: variable, readers, default and description."""
    cells_by_name: dict[str, list[str]] = {}
    for process, settings in PROCESSES.items():
        for name, field in settings.model_fields.items():
            who = "all" if name in StoreSettings.model_fields else process
            default = "" if field.default in (None, "", PydanticUndefined) else f"`{field.default}`"
            row = cells_by_name.setdefault(f"RANKERY_{name}".upper(), [who, default, str(field.description)])
            row[0] = who if row[0] == who else "all"
    return [f"| `{name}` | {' | '.join(cells)} |" for name, cells in sorted(cells_by_name.items())]


def test_the_page_lists_every_setting_as_it_is() -> None:
    """The page's rows equal the current settings."""
    listed = [line for line in PAGE.read_text().splitlines() if line.startswith("| `RANKERY_")]
    assert listed == rows()
