"""Stored rankings, and rankings of candidates."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from rankery.client.schemas import answers


class RankingView(BaseModel):
    """A stored ranking."""

    model_config = ConfigDict(frozen=True)
    id: str
    system: str
    """What ranks"""

    model_id: str | None = None
    """None for a run from elsewhere"""

    dataset_id: str
    job_id: str | None = None
    """The job that made it; known in lists"""

    created_at: datetime | None = None
    """When it was made; known in lists"""


class RankedQueries(answers.RankResponse):
    """Candidate documents in the order of a model."""
