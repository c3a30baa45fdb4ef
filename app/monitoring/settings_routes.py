"""Settings of the API process, without secrets."""

import json
from typing import Any

from pydantic import Field
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from app.http.openapi import etag_responses
from app.http.route import JsonRoute, Router
from app.http.schemas import ResponseModel
from app.http.services import UseServices
from app.settings import ApiSettings

router = Router(prefix="/v1/settings", tags=["overview"], route_class=JsonRoute)

# URLs may contain passwords; these settings are not shown over the network.
_HIDDEN = frozenset({"broker_url", "data_dir", "data_roots", "database_url", "storage_url"})


class Setting(ResponseModel):
    """A setting of the API process."""

    name: str = Field(description="Environment variable of the setting", examples=["RANKERY_SESSION_HOURS"])
    value: str = Field(
        description="Current value, empty if unset; `…` for folders and URLs of stores, which are hidden",
        examples=["8"],
    )
    default: str | None = Field(
        description="Value if the variable is not set; null if it depends on other settings",
        examples=["12"],
    )
    changed: bool = Field(description="Whether the value is not the default", examples=[True])
    description: str = Field(
        description="Meaning of the setting",
        examples=["Hours that a browser stays signed in"],
    )


class Settings(ResponseModel):
    """The settings of the API process that answers."""

    items: list[Setting]


@router.get("", summary="List settings", responses=etag_responses())
def list_settings(services: UseServices) -> Settings:
    """List the settings of this API process; workers have their own.

    Settings are environment variables, read at startup.
    """
    settings = services.settings
    fields = sorted(ApiSettings.model_fields.items())
    return Settings(items=[_setting(name, field, getattr(settings, name)) for name, field in fields])


def _setting(name: str, field: FieldInfo, value: Any) -> Setting:
    default = None if field.default is PydanticUndefined else _text(field.default)
    return Setting(
        name=f"RANKERY_{name}".upper(),
        value="…" if name in _HIDDEN else _text(value),
        default=default,
        changed=default is not None and value != field.default,
        description=str(field.description),
    )


def _text(value: Any) -> str:
    """Return a value in the format of its environment variable."""
    if value is None:
        return ""
    plain = to_jsonable_python(value)
    if isinstance(plain, list):
        return ",".join(map(str, plain))
    if isinstance(plain, float) and plain.is_integer():
        plain = int(plain)
    return plain if isinstance(plain, str) else json.dumps(plain)
