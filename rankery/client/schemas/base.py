"""Base class of the response models."""

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """A response of the service; immutable. Fields that this version does not declare are left out."""

    # Building all models takes long, and most programs use few of them.
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)
