"""Responses of inspections, feature importance and trees."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from app.datasets.schemas import ModelFindings
from app.evaluation.schemas import CONTRACT_EXAMPLE, SUMMARY_EXAMPLE, MetricSummary
from app.http.labels import ShownProject
from app.http.schemas import Json, PageModel, ResponseModel, example
from app.jobs.contract_schemas import NamedConventions

Within = Literal["dataset", "query"]


class FeaturePermutation(ResponseModel):
    """The permutation importance of one feature."""

    feature: str = Field(examples=["bm25"])
    mean: float | None = Field(
        description="Mean decrease of the metric; 0 if the model does not use the feature, null if no query"
        " defines the metric"
    )
    standard_error: float | None = Field(
        description="Standard error of the mean over shuffles; null with a single shuffle"
    )
    lower: float | None = Field(description="Lower end of the 95 % interval over queries")
    upper: float | None = Field(description="Upper end of the interval")


class Response(ResponseModel):
    """Scores of the sampled documents if the feature has the same value in all."""

    mean: float
    lower: float = Field(description="10th percentile of the scores")
    upper: float = Field(description="90th percentile of the scores")


class DependencePoint(Response):
    """The scores at a value of the feature."""

    value: float
    text: str | None = Field(
        None,
        description="Text of a category, whose `value` is its code",
        exclude_if=lambda text: text is None,
    )
    share: float = Field(description="Share of the documents with finite values whose value is not larger")


class MissingResponse(Response):
    """The scores where the feature is missing."""

    share: float = Field(description="Share of the documents without a value")


class FeatureDependence(ResponseModel):
    """The partial dependence on one feature."""

    feature: str = Field(examples=["bm25"])
    points: list[DependencePoint] = Field(description="Points by ascending value")
    missing: MissingResponse | None = Field(
        description="Scores for missing values; null if no value is missing"
    )
    percentiles: list[float] = Field(description="Percentiles 0 to 100 of the finite values in the data")


class InspectionEntry(ResponseModel):
    """An inspection in a list."""

    id: str
    job_id: str
    model_id: str
    dataset_id: str
    metric: str = Field(description="Metric of the inspection", examples=["ndcg@10"])
    repeats: int = Field(description="Number of shuffles per feature")
    within: Within = Field(
        description="Whether values were shuffled within the whole dataset or within each query"
    )
    seed: int
    sample: int = Field(description="Maximum number of documents to average a partial dependence over")
    project: ShownProject
    created_at: datetime


class InspectionPage(PageModel):
    """A page of inspections, newest first."""

    items: list[InspectionEntry]


_IMPORTANCE: Json = {"mean": 0.0712, "standard_error": 0.0009, "lower": 0.0671, "upper": 0.0755}
_RESPONSE: Json = {"mean": 0.41, "lower": -0.2, "upper": 0.9}


class Inspection(InspectionEntry):
    """Feature importance and partial dependence of a model on a dataset."""

    model_config = example(
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
            "importance": [{"feature": "bm25", **_IMPORTANCE}],
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
    )

    contract: NamedConventions
    baseline: MetricSummary = Field(description="The metric without shuffled features")
    importance: list[FeaturePermutation] = Field(description="Every feature, the most important first")
    partial_dependence: list[FeatureDependence]
    findings: ModelFindings = None


class FeatureImportance(ResponseModel):
    """The split count and gain of one feature."""

    feature: str = Field(examples=["bm25"])
    gain: float = Field(description="Sum of the gains of the feature's splits", examples=[1830.5])
    gain_share: float = Field(description="Share of the gains of all splits", examples=[0.31])
    split: int = Field(description="Number of splits on the feature", examples=[417])
    split_share: float = Field(description="Share of all splits", examples=[0.11])


class ModelImportance(ResponseModel):
    """Split counts and gains of all features, equal to LightGBM's `feature_importance`."""

    model_id: str = Field(examples=["mdl_01k9x3a7d5f8g2h4j6k9"])
    trees: int = Field(examples=[312])
    features: list[FeatureImportance] = Field(description="Every feature, the largest gain first")


class LinearLeaf(ResponseModel):
    """The linear function of a leaf, for documents without missing features."""

    constant: float
    coefficients: dict[str, float] = Field(description="Coefficients by feature")


class TreeLeaf(ResponseModel):
    """A leaf of a tree."""

    kind: Literal["leaf"]
    leaf: int = Field(description="Number of the leaf in the tree")
    value: float = Field(description="Contribution of the leaf to a score")
    documents: int | None = Field(description="Training documents in the leaf; null if unknown")
    linear: LinearLeaf | None = Field(
        description="Linear function that replaces `value`; null for a constant leaf"
    )


class TreeSplit(ResponseModel):
    """A split on one feature."""

    kind: Literal["split"]
    split: int = Field(description="Number of the split in the tree, 0 for the root")
    feature: str
    decision: Literal["<=", "in"] = Field(
        description="Documents go left if the value is `<=` threshold or `in` categories"
    )
    threshold: float | None = Field(
        description="Threshold; null for categories, and for a split that separates missing from other values"
    )
    categories: list[int | str] | None = Field(
        description="Categories that go left, as text if the model has texts; null for a threshold"
    )
    missing: Literal["none", "zero", "nan"] = Field(
        description="Values treated as missing: `nan`, `zero` (including NaN), or `none` if NaN counts as 0"
    )
    missing_goes: Literal["left", "right"] | None = Field(
        description="Branch of missing values; null if no values are treated as missing"
    )
    gain: float = Field(description="Reduction of the training loss by the split")
    documents: int | None = Field(description="Training documents that reached the split; null if unknown")
    leaves: int = Field(description="Number of leaves below the split")
    left: "TreeNode | None" = Field(description="Left child; null below the requested depth")
    right: "TreeNode | None" = Field(description="Right child; null below the requested depth")


TreeNode = Annotated[TreeSplit | TreeLeaf, Field(discriminator="kind")]
TreeSplit.model_rebuild()

_LEAF: Json = {"kind": "leaf", "documents": 5210, "linear": None}


class ModelTree(ResponseModel):
    """One tree of a model, nested."""

    model_config = example(
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
    )

    model_id: str
    index: int = Field(description="Index of the tree, from 0")
    trees: int = Field(description="Number of trees of the model")
    root: TreeNode
