"""Requests for exports, and the parity report."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.http.schemas import Id, RequestModel, ResponseModel
from core.export import FORMAT_NAMES, ExportOptions
from core.export.options import MAX_NAME_LENGTH, NAME, OPTIONS, VERSION

_FeatureNames = Annotated[
    dict[
        Annotated[str, Field(max_length=1000)],
        Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)],
    ],
    Field(
        default_factory=dict,
        max_length=100_000,
        description="The engine's feature names by the model's feature names; other names are not changed",
        examples=[{"title bm25": "bm25(title)", "price": "attribute(price)"}],
    ),
]


class ExportQuery(RequestModel):
    """A format and its options."""

    model_config = ConfigDict(strict=False)  # values in a URL are texts

    format: str = Field(
        "lightgbm",
        max_length=100,
        description="A format of `GET /v1/export-formats?scorer=…` for the model's kind, which lists the"
        " options of each format",
        examples=["solr"],
        json_schema_extra={"enum": list(FORMAT_NAMES)},
    )
    target_version: str | None = Field(
        None,
        pattern=VERSION,
        description="Version of the engine, by default the newest; it determines the handling of missing"
        " values",
        examples=["9.6"],
    )
    model_name: str | None = Field(
        None,
        pattern=NAME,
        description="Name of the model in the engine; by default its name and version",
        examples=["web"],
    )
    feature_set: str | None = Field(
        None,
        pattern=NAME,
        description="Feature set of Elasticsearch or OpenSearch, feature store of Solr; default `rankery`",
        examples=["web-features"],
    )
    score_shift: bool = Field(
        False, description="Add a constant to all scores so that none is negative, as Lucene requires"
    )
    never_missing: bool = Field(
        False,
        description="Assert that no document lacks a feature, for engines that do not support missing values",
    )

    def options(self) -> ExportOptions:
        """Return the export options for core."""
        return ExportOptions(**self.model_dump(include=set(OPTIONS)))


class ParityQuery(ExportQuery):
    """A format, its options, and the data to compare over."""

    dataset_id: Id | None = Field(
        None,
        description="Judged documents to compare over, at most 10,000; default: the model's test, else its"
        " training dataset",
        examples=["ds_01k9x2m4q7c8v5n3b6r1"],
    )


class ExportRequest(ExportQuery):
    """A format, its options, and names of features."""

    model_config = ConfigDict(strict=True)

    feature_names: _FeatureNames


class ParityRequest(ParityQuery):
    """A format, its options, names of features, and the data to compare over."""

    model_config = ConfigDict(strict=True)

    feature_names: _FeatureNames


class ExportFormat(ResponseModel):
    """A format in the catalogue."""

    name: str = Field(description="As written in requests", examples=["solr"])
    summary: str = Field(
        description="One-line summary", examples=["MultipleAdditiveTreesModel for Solr's model store"]
    )
    reader: str = Field(description="Software that reads the format", examples=["Solr's Learning to Rank"])
    filename: str = Field(description="Name of the file", examples=["model.json"])
    media_type: str = Field(description="Media type of the file", examples=["application/json"])
    options: list[str] = Field(description="Options of the format", examples=[["target_version"]])
    limits: list[str] = Field(
        description="Limits of the format: such models are refused", examples=[["categorical splits"]]
    )


class ExportFormatCatalogue(ResponseModel):
    """All formats that models are exported in."""

    items: list[ExportFormat]


class ExportedModel(ResponseModel):
    """The exported model."""

    id: str = Field(examples=["mdl_01k9x3a7d5f8g2h4j6k9"])
    name: str = Field(examples=["web"])
    version: int = Field(examples=[3])


class DataParity(ResponseModel):
    """Parity of an export over documents."""

    queries: int = Field(description="Number of queries", examples=[82])
    documents: int = Field(description="Documents that were scored", examples=[9937])
    leaves: int = Field(
        description="Evaluated leaves: documents times trees; 0 for other models than trees",
        examples=[4_968_500],
    )
    differing_leaves: int = Field(description="Leaves that differ from LightGBM's", examples=[0])
    differing_documents: int = Field(
        description="Documents with a differing leaf; for other models than trees, with a score difference"
        " beyond rounding",
        examples=[0],
    )
    largest_score_difference: float = Field(
        description="Largest difference between the engine's and the model's score, after adding"
        " `score_shift`",
        examples=[1.4e-6],
    )
    adjacent_pairs: int = Field(
        description="Neighbours in the model's rankings whose scores differ", examples=[9800]
    )
    swapped_pairs: int = Field(
        description="Adjacent pairs that the engine ranks in reverse order", examples=[0]
    )
    tied_pairs: int = Field(description="Adjacent pairs with equal scores in the engine", examples=[1])
    ndcg_at_10: float | None = Field(
        description="The model's NDCG@10; null if no query has a relevant document", examples=[0.4512]
    )
    ndcg_at_10_difference: float | None = Field(
        description="The engine's NDCG@10 minus the model's", examples=[0.0]
    )
    largest_ndcg_at_10_difference: float | None = Field(
        description="Largest absolute difference for a single query", examples=[0.0]
    )


class Difference(ResponseModel):
    """A value for which the engine takes another branch."""

    tree: int = Field(description="Index of the tree, from 0", examples=[0])
    feature: str = Field(description="Name of the feature in the engine", examples=["ctr"])
    threshold: float | None = Field(description="Threshold in LightGBM; null if infinite", examples=[4.2e-7])
    loaded: float | None = Field(description="Threshold as loaded by the engine", examples=[4.2e-7])
    value: str = Field(description="Value of the feature, or `missing`", examples=["4.2e-07"])
    lightgbm: str = Field(description="Branch in LightGBM, `left` or `right`", examples=["left"])


class NeighbourParity(ResponseModel):
    """Parity of an export at every split, over the neighbours of its threshold."""

    splits: int = Field(description="Number of splits of the model, 0 without trees", examples=[31_500])
    decisions: int = Field(
        description="Compared decisions: at each split the threshold, its neighbours, zeros, extreme"
        " numbers, infinities, missing",
        examples=[724_500],
    )
    differing_decisions: int = Field(description="Decisions that differ from LightGBM's", examples=[0])
    differing_splits: int = Field(description="Splits with a differing decision", examples=[0])
    examples: list[Difference] = Field(description="The first 10 differing decisions")


class SlackResidue(ResponseModel):
    """Thresholds that Solr cannot represent, as it adds 1e-6 in float32 to each."""

    splits: int = Field(
        description="Number of such splits: their thresholds are below about 1e-6 or are certain negative"
        " powers of two",
        examples=[0],
    )
    widest_range: float = Field(
        description="The longest range of values between LightGBM's threshold and Solr's", examples=[0.0]
    )


class EdgeParity(ResponseModel):
    """Parity of an export of a linear scorer, a network or a sum over synthetic documents.

    The documents have missing features, zeros, and the extreme and infinite values that the engine supports.
    """

    documents: int = Field(description="Number of synthetic documents", examples=[512])
    differing_documents: int = Field(
        description="Documents whose score differs from the model's score by more than rounding errors",
        examples=[0],
    )
    largest_score_difference: float = Field(
        description="Largest difference between the engine's and the model's score", examples=[3.6e-15]
    )
    largest_relative_difference: float = Field(
        description="Largest difference relative to the model's score, or to 1 if the score is smaller",
        examples=[8.9e-16],
    )


class EngineParity(ResponseModel):
    """Parity of an export in the arithmetic of one engine."""

    engine: str = Field(description="Name and version of the engine", examples=["Solr 9.2 and later"])
    arithmetic: str = Field(
        description="The engine's arithmetic of decisions and sums",
        examples=["x <= threshold + 1e-6 in float32; missing features follow the split; …"],
    )
    data: DataParity | None = Field(description="Parity over documents; null if no dataset could be read")
    neighbours: NeighbourParity = Field(description="Parity over the neighbours of every threshold")
    slack_residue: SlackResidue | None = Field(
        description="Thresholds that Solr cannot represent; null for other engines"
    )
    edge_cases: EdgeParity | None = Field(
        None,
        description="Parity over synthetic documents, for linear scorers, networks and sums; null for trees",
    )


class ExportParity(ResponseModel):
    """The parity report: the export read back and evaluated as the engine does."""

    model: ExportedModel
    dataset_id: str | None = Field(
        description="Dataset of the comparison; null if no dataset could be read",
        examples=["ds_01k9x2m4q7c8v5n3b6r1"],
    )
    format: str = Field(examples=["solr"])
    options: dict[str, Any] = Field(description="Options of the request", examples=[{"score_shift": True}])
    scorer: str = Field(
        "trees", description="Kind of the model: `trees`, `linear`, `mlp` or `sum`", examples=["trees"]
    )
    exact: bool = Field(
        description="Trees: no decision differs, neither over data nor over neighbours. Linear scorers"
        " and networks: rounding explains all score differences, over data and edge cases. Sums: both hold",
        examples=[True],
    )
    trees: int = Field(description="Number of trees of the export, 0 without trees", examples=[500])
    score_shift: float = Field(description="Constant that is added to all scores", examples=[0.0])
    engines: list[EngineParity] = Field(
        description="Parity for each arithmetic of the engines that read the format"
    )
    notes: list[str] = Field(description="Notes on this export", examples=[[]])
