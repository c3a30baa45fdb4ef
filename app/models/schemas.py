"""Requests and responses of models."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from app.datasets.schemas import Finding
from app.http.labels import MultilineText, NewProject, ProjectName, ShownProject, ShownTags, TagChanges, Tags
from app.http.schemas import (
    Id,
    Json,
    ModelName,
    PageModel,
    RequestModel,
    ResponseModel,
    VisibleText,
    example,
)
from core.store import Model as ModelRow
from core.types import Precision


class LineageDataset(ResponseModel):
    """A dataset used by a training."""

    id: str
    digest: str | None = Field(
        description="Digest of the dataset's content; equal contents have equal digests"
    )
    sha256: str | None = Field(
        description="Checksum of the uploaded file; null if the dataset was not uploaded"
    )


class LineageModel(ResponseModel):
    """The model that a training continued."""

    id: str
    model: str = Field(description="Reference of the model", examples=["web:2"])
    sha256: str = Field(description="Checksum of the model text")
    trees: int = Field(description="Number of trees of the model", examples=[120])


class UsedModel(ResponseModel):
    """A model whose scores a training or a sum used unchanged."""

    id: str
    model: str = Field(description="Reference of the model", examples=["web:2"])
    sha256: str = Field(description="Checksum of the model file")


class Lineage(ResponseModel):
    """The lineage of a model: everything that determines its bytes."""

    job_id: str
    datasets: dict[str, LineageDataset] = Field(description="Datasets by role: train, validation, test")
    init_model: LineageModel | None = Field(None, description="Model that the training continued, if any")
    members: list[UsedModel] | None = Field(None, description="Models of a sum, in order")
    teacher: UsedModel | None = Field(None, description="Teacher whose scores replaced the labels, if any")
    spec: Json = Field(description="Request of the job with all defaults and resolved references")
    seed: int | None
    rankery: str | None = Field(description="Version of the service")
    libraries: dict[str, str | None] = Field(
        description="Versions of lightgbm, numba, numpy and python; for networks, linear scorers and"
        " automatic trainings also of jax, jaxlib and optax"
    )
    machine: str = Field(description="Architecture of the processor")
    processor: str | None = Field(
        None,
        description="Processor type that kernels were compiled for; several, separated by commas, if the"
        " training resumed on another type; null for models of older releases",
    )
    names_in_file: dict[str, str] | None = Field(
        None,
        description="Replacements in the model's file of feature names that LightGBM cannot represent; null"
        " if unknown",
        examples=[{"page rank": "page_rank"}],
    )


class ModelExplanation(ResponseModel):
    """Whether a model supports `"explain": true`, and the cost."""

    problem: str | None = Field(description="Why scores cannot be explained; null if they can")
    steps: int = Field(
        description="Cost of explaining one score, in steps of about 5 ns; `RANKERY_MAX_EXPLAINED_STEPS`"
        " limits the sum of a request"
    )


class Model(ResponseModel):
    """One version of a ranker, trained here or imported."""

    model_config = example(
        {
            "id": "mdl_01k9x3a7d5f8g2h4j6k9",
            "name": "web",
            "version": 3,
            "aliases": ["champion"],
            "title": None,
            "description": "Trained on clicks of the spring",
            "tags": {"team": "search"},
            "project": "web",
            "source": "trained",
            "job_id": "job_01k9x2z4q7c8v5n3b6r1",
            "dataset_id": "ds_01k9x2m4q7c8v5n3b6r1",
            "feature_names": ["bm25", "pagerank"],
            "loss": {"name": "ndcg-loss2++", "mu": 5.0},
            "kind": "trees",
            "precision": "float32",
            "scorer": None,
            "hyperparameters": {"learning_rate": 0.05, "num_leaves": 64},
            "best_iteration": 312,
            "sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
            "size_bytes": 1_482_113,
            "metrics": {"ndcg@10": 0.4512},
            "findings": None,
            "lineage": {
                "job_id": "job_01k9x2z4q7c8v5n3b6r1",
                "datasets": {
                    "train": {
                        "id": "ds_01k9x2m4q7c8v5n3b6r1",
                        "digest": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                        "sha256": "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752",
                    }
                },
                "spec": {"kind": "train", "model_name": "web", "loss": {"name": "ndcg-loss2++"}},
                "seed": 42,
                "rankery": "0.1.0",
                "libraries": {
                    "lightgbm": "4.7.0",
                    "numba": "0.68.1",
                    "numpy": "2.4.0",
                    "python": "3.12.4",
                },
                "machine": "x86_64",
                "processor": "znver4",
            },
            "explanation": {"problem": None, "steps": 1_204_224},
            "created_at": "2026-01-05T10:02:11Z",
        }
    )

    id: str
    name: str
    version: int = Field(description="Number of the version within the name, from 1")
    aliases: list[str] = Field(description="Aliases of the name that point at this version")
    title: str | None = Field(description="Display name of this version; null if it has none")
    description: str | None = Field(description="Description of this version")
    tags: ShownTags
    project: ShownProject
    source: Literal["trained", "imported"] = Field(
        description="Whether the model was trained here or imported"
    )
    job_id: str = Field(description="Job that trained or imported the model")
    dataset_id: str | None = Field(description="Training dataset; null for an imported model")
    feature_names: list[str] = Field(description="Names of the features in the model's order")
    loss: Json | None = Field(
        description="Loss of the training with all hyperparameters; null for sums, automatic trainings and"
        " imported models"
    )
    kind: str = Field(description="Kind of the scorer: `trees`, `linear`, `mlp` or `sum`")
    precision: Precision | None = Field(
        description="Precision of features in scoring: `float64` for imported trees, otherwise `float32`;"
        " null for a sum, whose members differ"
    )
    scorer: Json | None = Field(
        description="Scorer with all hyperparameters, or the structure of an imported network; null for trees"
    )
    hyperparameters: Json | None = Field(
        description="Boosting hyperparameters; empty for other scorers and automatic trainings, null for"
        " imported models"
    )
    best_iteration: int = Field(
        description="Number of trees in use, or epoch of the weights; 1 for a sum of stored models, 0 for an"
        " imported network or linear scorer; for an automatic training the largest of its members"
    )
    sha256: str = Field(description="Digest of the model file")
    size_bytes: int = Field(description="Size of the model file")
    metrics: dict[str, Any] | None = Field(
        description="Means of the metrics on the test dataset, if there was one"
    )
    findings: list[Finding] | None = Field(
        None, description="Findings about the model on the test dataset; null without findings"
    )
    lineage: Lineage | None = Field(
        description="Origin of the model; null for models that were created before lineages were stored"
    )
    explanation: ModelExplanation | None = Field(
        description="Whether the model's scores can be explained; null for models that were created before"
        " this was stored"
    )
    created_at: datetime

    @classmethod
    def of(cls, row: ModelRow, aliases: list[str]) -> "Model":
        """Return the response of a stored model and its aliases."""
        computed = {"aliases": aliases, "precision": None if row.kind == "sum" else row.precision}
        columns = {name: getattr(row, name) for name in cls.model_fields if name not in computed}
        return cls(**columns, **computed)


class ListedModel(Model):
    """One version of a ranker in a list."""

    name_aliases: dict[str, int] = Field(
        description="Versions by alias, for all aliases of the model's name", examples=[{"champion": 2}]
    )
    dataset_name: str | None = Field(
        description="Name of the training dataset; null if it does not exist any more",
        examples=["web30k fold 1"],
    )


class ModelPage(PageModel):
    """A page of models, in the requested order."""

    items: list[ListedModel]


class LatestVersion(ResponseModel):
    """A summary of the latest version of a name."""

    id: str = Field(examples=["mdl_01k9x3a7d5f8g2h4j6k9"])
    version: int = Field(examples=[3])
    title: str | None = Field(examples=["The spring model"])
    description: str | None = Field(examples=["Trained on clicks of the spring"])
    tags: ShownTags
    project: ShownProject
    source: Literal["trained", "imported"]
    job_id: str = Field(examples=["job_01k9x2z4q7c8v5n3b6r1"])
    dataset_id: str | None = Field(
        description="Training dataset; null for an imported model",
        examples=["ds_01k9x2m4q7c8v5n3b6r1"],
    )
    loss: Json | None = Field(examples=[{"name": "ndcg-loss2++", "mu": 5.0}])
    metrics: dict[str, Any] | None = Field(
        description="Means of the metrics on the test dataset, if there was one",
        examples=[{"ndcg@10": 0.4512}],
    )
    created_at: datetime


class NamedModel(ResponseModel):
    """A name with its latest version."""

    name: str = Field(examples=["web"])
    aliases: dict[str, int] = Field(description="Versions by alias", examples=[{"champion": 3}])
    latest: LatestVersion


class NamedModelPage(PageModel):
    """A page of names, the one with the newest version first."""

    items: list[NamedModel]


class ModelChanges(RequestModel):
    """Changes to a model's title, description, tags and project; omitted fields stay."""

    title: VisibleText | None = Field(
        None,
        description="Display name of this version; null for none. Name and version do not change",
        examples=["The spring model"],
    )
    description: MultilineText | None = Field(
        None,
        description="New description; null for none",
        examples=["Trained on clicks of the spring"],
    )
    tags: TagChanges = Field(default_factory=dict)
    project: ProjectName | None = Field(
        None, description="Project to move all versions of the name to; null for none", examples=["web"]
    )


class TaggedModels(RequestModel):
    """Tags for several models; their other tags stay."""

    ids: list[Id] = Field(
        min_length=1, max_length=200, description="Ids of models", examples=[["mdl_01k9x3a7d5f8g2h4j6k9"]]
    )
    tags: TagChanges = Field(min_length=1)


class ModelList(ResponseModel):
    """Several models."""

    items: list[Model] = Field(description="In the requested order")


class ModelImport(RequestModel):
    """The text fields of a form that imports a model."""

    name: ModelName
    description: MultilineText | None = None
    tags: Tags = Field(default_factory=dict)
    project: NewProject = None
