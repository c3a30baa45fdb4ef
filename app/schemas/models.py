"""Trained models as shown, and their aliases."""

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from app.schemas.base import Json, NextCursor, RequestModel, ResponseModel


class Model(ResponseModel):
    """One version of a trained ranker."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "mdl_01k9x3a7d5f8g2h4j6k9",
                    "name": "web",
                    "version": 3,
                    "aliases": ["champion"],
                    "job_id": "job_01k9x2z4q7c8v5n3b6r1",
                    "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
                    "feature_names": ["bm25", "pagerank"],
                    "loss": {"name": "ndcg-loss2++", "mu": 5.0},
                    "hyperparameters": {"learning_rate": 0.05, "num_leaves": 64},
                    "best_iteration": 312,
                    "sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
                    "size_bytes": 1_482_113,
                    "metrics": {"ndcg@10": 0.4512},
                    "created_at": "2026-01-05T10:02:11Z",
                }
            ]
        },
    )

    id: str
    name: str
    version: int = Field(description="Counts up within the name, from 1")
    aliases: list[str] = Field(description="Aliases of the name that point at this version")
    job_id: str | None = Field(description="The job that trained it")
    dataset_id: str | None = Field(description="The dataset it was trained on")
    feature_names: list[str] = Field(description="Features in the model's order")
    loss: Json = Field(description="The loss it was trained with, all hyperparameters spelled out")
    hyperparameters: Json = Field(description="Boosting hyperparameters")
    best_iteration: int = Field(description="Number of trees in use")
    sha256: str = Field(description="Digest of the model text")
    size_bytes: int = Field(description="Length of the model text")
    metrics: dict[str, Any] | None = Field(description="Means on the test dataset, if there was one")
    created_at: datetime


class ModelPage(ResponseModel):
    """A page of models, newest first."""

    items: list[Model]
    next_cursor: NextCursor


class AliasRequest(RequestModel):
    """Where an alias should point."""

    version: int = Field(ge=1, le=2**31 - 1, description="An existing version of the name", examples=[3])
