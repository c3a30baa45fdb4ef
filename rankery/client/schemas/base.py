"""What all answers have in common."""

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """Something that the service answered: read only, and without the fields that this version does not know."""

    # Most programs meet few of the many kinds of answer.
    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)
