"""Requests for exports, and the parity report."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.http.schemas import Id, RequestModel, ResponseModel
from core.export import FORMAT_NAMES, ExportOptions
from core.export.options import MAX_NAME, NAME, OPTIONS, VERSION

_FeatureNames = Annotated[
    dict[Annotated[str, Field(max_length=1000)], Annotated[str, Field(min_length=1, max_length=MAX_NAME)]],
    Field(
        default_factory=dict,
        max_length=100_000,
        description="What the engine calls a feature, by the model's name of it; others keep theirs",
        examples=[{"title bm25": "bm25(title)", "price": "attribute(price)"}],
    ),
]


class ExportQuery(RequestModel):
    """A format and its options."""

    model_config = ConfigDict(strict=False)  # values in a URL are texts

    format: str = Field(
        "lightgbm",
        max_length=100,
        description="One of `GET /v1/export-formats?scorer=…` for the model's kind, which lists the options"
        " that each takes",
        examples=["solr"],
        json_schema_extra={"enum": list(FORMAT_NAMES)},
    )
    target_version: str | None = Field(
        None,
        pattern=VERSION,
        description="The engine's version, the newest where left out: what missing values do depends on it",
        examples=["9.6"],
    )
    model_name: str | None = Field(
        None,
        pattern=NAME,
        description="Name in the engine; name and version where left out",
        examples=["web"],
    )
    feature_set: str | None = Field(
        None,
        pattern=NAME,
        description="Feature set of Elasticsearch or OpenSearch, feature store of Solr; `rankery` where left"
        " out",
        examples=["web-features"],
    )
    score_shift: bool = Field(
        False, description="Raise all scores by one number so that none is below 0, as Lucene demands"
    )
    never_missing: bool = Field(
        False,
        description="Every document has every feature, so the engine's lack of missing values is irrelevant",
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
        description="One line", examples=["MultipleAdditiveTreesModel for Solr's model store"]
    )
    reader: str = Field(description="What reads it", examples=["Solr's Learning to Rank"])
    filename: str = Field(description="The file", examples=["model.json"])
    media_type: str = Field(description="Its media type", examples=["application/json"])
    options: list[str] = Field(description="The options that it takes", examples=[["target_version"]])
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

    queries: int = Field(description="Queries", examples=[82])
    documents: int = Field(description="Documents that were scored", examples=[9937])
    leaves: int = Field(
        description="Leaves looked up: documents times trees; 0 of networks and sums", examples=[4_968_500]
    )
    differing_leaves: int = Field(description="Leaves that are not LightGBM's", examples=[0])
    differing_documents: int = Field(
        description="Documents with such a leaf; of networks and sums, with a difference beyond rounding",
        examples=[0],
    )
    largest_score_difference: float = Field(
        description="Between the engine's and the model's score, `score_shift` added", examples=[1.4e-6]
    )
    adjacent_pairs: int = Field(
        description="Neighbours in the model's rankings whose scores differ", examples=[9800]
    )
    swapped_pairs: int = Field(
        description="Of them, those that the engine ranks the other way round", examples=[0]
    )
    tied_pairs: int = Field(description="Of them, those with equal scores in the engine", examples=[1])
    ndcg_at_10: float | None = Field(
        description="The model's NDCG@10, null where no query has a relevant document", examples=[0.4512]
    )
    ndcg_at_10_difference: float | None = Field(description="The engine's less the model's", examples=[0.0])
    largest_ndcg_at_10_difference: float | None = Field(description="Of a single query", examples=[0.0])


class Difference(ResponseModel):
    """A value for which the engine takes another branch."""

    tree: int = Field(description="From 0", examples=[0])
    feature: str = Field(description="As the engine calls it", examples=["ctr"])
    threshold: float | None = Field(description="LightGBM's; null where infinite", examples=[4.2e-7])
    loaded: float | None = Field(description="What the engine makes of it", examples=[4.2e-7])
    value: str = Field(description="The value, or `missing`", examples=["4.2e-07"])
    lightgbm: str = Field(description="Where LightGBM sends it, `left` or `right`", examples=["left"])


class NeighbourParity(ResponseModel):
    """Parity of an export at every split, over the neighbours of its threshold."""

    splits: int = Field(description="Splits of the model; 0 of networks", examples=[31_500])
    decisions: int = Field(
        description="Compared decisions: at each split the threshold, its neighbours, zeros, extreme"
        " numbers, infinities, missing",
        examples=[724_500],
    )
    differing_decisions: int = Field(description="Decisions that are not LightGBM's", examples=[0])
    differing_splits: int = Field(description="Splits with such a decision", examples=[0])
    examples: list[Difference] = Field(description="The first of them, 10 at most")


class SlackResidue(ResponseModel):
    """Thresholds that Solr cannot represent, as it adds 1e-6 in float32 to each."""

    splits: int = Field(
        description="How many: thresholds under about 1e-6, and some powers of two below 0", examples=[0]
    )
    widest_range: float = Field(
        description="The longest range of values between LightGBM's threshold and Solr's", examples=[0.0]
    )


class EdgeParity(ResponseModel):
    """Parity of an export of a linear scorer, a network or a sum over synthetic documents.

    The documents have missing features, zeros, and the extreme and infinite values that the engine supports.
    """

    documents: int = Field(description="Documents", examples=[512])
    differing_documents: int = Field(
        description="Those whose score is farther from the model's than rounding explains", examples=[0]
    )
    largest_score_difference: float = Field(
        description="Between the engine's and the model's score", examples=[3.6e-15]
    )
    largest_relative_difference: float = Field(
        description="The same as a share of the model's score, of 1 where that is less", examples=[8.9e-16]
    )


class EngineParity(ResponseModel):
    """Parity of an export in the arithmetic of one engine."""

    engine: str = Field(description="Whose", examples=["Solr 9.2 and later"])
    arithmetic: str = Field(
        description="How it decides and adds up",
        examples=["x <= threshold + 1e-6 in float32; missing features go where the split says; …"],
    )
    data: DataParity | None = Field(description="Over documents; null where there were none")
    neighbours: NeighbourParity = Field(description="Over the neighbours of every threshold")
    slack_residue: SlackResidue | None = Field(description="Of Solr")
    edge_cases: EdgeParity | None = Field(
        None, description="Over made-up documents, of linear scorers, networks and sums; null of trees"
    )


class ExportParity(ResponseModel):
    """The parity report: the export read back and evaluated as the engine does."""

    model: ExportedModel
    dataset_id: str | None = Field(
        description="What was compared over; null where nothing could be read",
        examples=["ds_01k9x2m4q7c8v5n3b6r1"],
    )
    format: str = Field(examples=["solr"])
    options: dict[str, Any] = Field(description="As given", examples=[{"score_shift": True}])
    scorer: str = Field(
        "trees", description="Kind of the model: `trees`, `linear`, `mlp` or `sum`", examples=["trees"]
    )
    exact: bool = Field(
        description="Of trees: no decision differs, neither over data nor over neighbours. Of linear scorers"
        " and networks: rounding explains all differences of scores, over data and edge cases. Of sums: both",
        examples=[True],
    )
    trees: int = Field(description="Trees of the export; 0 of networks", examples=[500])
    score_shift: float = Field(description="Added to all scores", examples=[0.0])
    engines: list[EngineParity] = Field(description="One for each arithmetic that the format meets")
    notes: list[str] = Field(description="What to know of this export", examples=[[]])
