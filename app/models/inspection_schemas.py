"""Responses of inspections, feature importance and trees."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from app.datasets.schemas import Finding
from app.evaluation.schemas import CONTRACT_EXAMPLE, SUMMARY_EXAMPLE, MetricSummary
from app.http.labels import ShownProject
from app.http.schemas import Json, NextCursor, ResponseModel
from app.jobs.contract_schemas import NamedConventions

Within = Literal["dataset", "query"]


class FeaturePermutation(ResponseModel):
    """The permutation importance of one feature."""

    feature: str = Field(examples=["bm25"])
    mean: float | None = Field(
        description="Mean loss of the metric; 0 for what no tree looks at, null where no query defines it"
    )
    standard_error: float | None = Field(
        description="Of the mean, from one shuffle to the next; null where there was one only"
    )
    lower: float | None = Field(description="Lower end of the 95 % interval over queries")
    upper: float | None = Field(description="Upper end of the interval")


class Response(ResponseModel):
    """Scores of the sampled documents when all have the same value."""

    mean: float
    lower: float = Field(description="What a tenth of the documents does not exceed")
    upper: float = Field(description="What nine tenths do not exceed")


class DependencePoint(Response):
    """The scores at a value of the feature."""

    value: float
    text: str | None = Field(
        None, description="Of a category, whose `value` is its code", exclude_if=lambda text: text is None
    )
    share: float = Field(description="Share of the documents with a finite value that have no larger one")


class MissingResponse(Response):
    """The scores where the feature is missing."""

    share: float = Field(description="Share of the documents where it is")


class FeatureDependence(ResponseModel):
    """The partial dependence on one feature."""

    feature: str = Field(examples=["bm25"])
    points: list[DependencePoint] = Field(description="By ascending value")
    missing: MissingResponse | None = Field(description="Null where it never is")
    percentiles: list[float] = Field(
        description="The finite values in the data from the smallest to the largest, in steps of one per cent"
    )


class InspectionEntry(ResponseModel):
    """An inspection in a list."""

    id: str
    job_id: str
    model_id: str
    dataset_id: str
    metric: str = Field(description="What was measured", examples=["ndcg@10"])
    repeats: int = Field(description="How often each feature was shuffled")
    within: Within = Field(description="Among the documents of the whole dataset, or of the same query")
    seed: int
    sample: int = Field(description="Documents that a partial dependence is the mean over, at most")
    project: ShownProject
    created_at: datetime


class InspectionPage(ResponseModel):
    """A page of inspections, newest first."""

    items: list[InspectionEntry]
    next_cursor: NextCursor


_LOSS: Json = {"mean": 0.0712, "standard_error": 0.0009, "lower": 0.0671, "upper": 0.0755}
_RESPONSE: Json = {"mean": 0.41, "lower": -0.2, "upper": 0.9}


class Inspection(InspectionEntry):
    """Feature importance and partial dependence of a model on a dataset."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "ins_01k9x3b1d5f8g2h4j6k9",
                    "job_id": "job_01k9x2z4q7c8v5n3b6r1",
                    "model_id": "mdl_01k9x3a7d5f8g2h4j6k9",
                    "dataset_id": "ds_01k9x2m4q7c8v5n3b6r7",
                    "metric": "ndcg@10",
                    "repeats": 5,
                    "within": "dataset",
                    "seed": 42,
                    "sample": 2000,
                    "project": "web",
                    "created_at": "2026-01-05T10:02:12Z",
                    "contract": CONTRACT_EXAMPLE,
                    "baseline": SUMMARY_EXAMPLE,
                    "importance": [{"feature": "bm25", **_LOSS}],
                    "partial_dependence": [
                        {
                            "feature": "bm25",
                            "points": [{**_RESPONSE, "value": 12.5, "share": 0.5}],
                            "missing": {**_RESPONSE, "share": 0.02},
                            "percentiles": [0.0, 12.5, 40.0],
                        }
                    ],
                    "findings": None,
                }
            ]
        },
    )

    contract: NamedConventions
    baseline: MetricSummary = Field(description="The metric of the model as it is")
    importance: list[FeaturePermutation] = Field(description="Every feature, the most important first")
    partial_dependence: list[FeatureDependence]
    findings: list[Finding] | None = Field(
        None, description="What to know of the model on this dataset; null where there is nothing"
    )


class FeatureImportance(ResponseModel):
    """The split count and gain of one feature."""

    feature: str = Field(examples=["bm25"])
    gain: float = Field(description="Sum of the gains of its splits", examples=[1830.5])
    gain_share: float = Field(description="Of the gains of all splits", examples=[0.31])
    split: int = Field(description="Number of its splits", examples=[417])
    split_share: float = Field(description="Of all splits", examples=[0.11])


class ModelImportance(ResponseModel):
    """Split counts and gains of all features, equal to LightGBM's `feature_importance`."""

    model_id: str = Field(examples=["mdl_01k9x3a7d5f8g2h4j6k9"])
    trees: int = Field(examples=[312])
    features: list[FeatureImportance] = Field(description="Every feature, the largest gain first")


class LinearLeaf(ResponseModel):
    """The linear function of a leaf, for documents without missing features."""

    constant: float
    coefficients: dict[str, float] = Field(description="By feature")


class TreeLeaf(ResponseModel):
    """A leaf of a tree."""

    kind: Literal["leaf"]
    leaf: int = Field(description="Its number in the tree")
    value: float = Field(description="What it adds to a score")
    documents: int | None = Field(description="Training documents that ended here; null where unknown")
    linear: LinearLeaf | None = Field(description="What it adds instead; null for a constant leaf")


class TreeSplit(ResponseModel):
    """A split on one feature."""

    kind: Literal["split"]
    split: int = Field(description="Its number in the tree, 0 for the root")
    feature: str
    decision: Literal["<=", "in"] = Field(description="Goes left what is `<=` threshold or `in` categories")
    threshold: float | None = Field(
        description="Null for categories, and where infinite: it separates missing values from all others"
    )
    categories: list[int | str] | None = Field(
        description="Those that go left, by text where the model has it; null where there is a threshold"
    )
    missing: Literal["none", "zero", "nan"] = Field(
        description="What is missing: `nan`, `zero` (NaN included), or `none` where NaN counts as 0"
    )
    missing_goes: Literal["left", "right"] | None = Field(description="Null where nothing is missing")
    gain: float = Field(description="By how much it reduced the training loss")
    documents: int | None = Field(description="Training documents that came through; null where unknown")
    leaves: int = Field(description="Leaves below")
    left: "TreeNode | None" = Field(description="Null below the depth that was asked for")
    right: "TreeNode | None" = Field(description="The same")


TreeNode = Annotated[TreeSplit | TreeLeaf, Field(discriminator="kind")]
TreeSplit.model_rebuild()

_LEAF: Json = {"kind": "leaf", "documents": 5210, "linear": None}


class ModelTree(ResponseModel):
    """One tree of a model, nested."""

    model_config = ConfigDict(
        from_attributes=True,
        json_schema_extra={
            "examples": [
                {
                    "model_id": "mdl_01k9x3a7d5f8g2h4j6k9",
                    "index": 0,
                    "trees": 312,
                    "root": {
                        "kind": "split",
                        "split": 0,
                        "feature": "bm25",
                        "decision": "<=",
                        "threshold": 11.25,
                        "categories": None,
                        "missing": "nan",
                        "missing_goes": "left",
                        "gain": 182.4,
                        "documents": 10420,
                        "leaves": 2,
                        "left": {**_LEAF, "leaf": 0, "value": -0.031},
                        "right": {**_LEAF, "leaf": 1, "value": 0.045},
                    },
                }
            ]
        },
    )

    model_id: str
    index: int = Field(description="Counted from 0")
    trees: int = Field(description="Trees of the model")
    root: TreeNode
