"""What all answers have in common."""

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """An answer of the service: read only, without the fields that this version does not know."""

    # Most programs meet few of the many kinds of answer.
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)
