"""Stored rankings."""

from datetime import datetime

from pydantic import Field

from app.datasets.schemas import DatasetName, ModelFindings
from app.http.labels import ShownProject
from app.http.schemas import NextCursor, PageModel, ResponseModel, optional_text
from core.store import Ranking as RankingRow


class RankingEntry(ResponseModel):
    """A stored ranking in a list."""

    id: str = Field(examples=["rnk_01k9x3b1d5f8g2h4j6m2"])
    job_id: str = Field(examples=["job_01k9x2z4q7c8v5n3b6r1"])
    system: str = Field(description="Name of the ranking system", examples=["web:3"])
    model_id: str | None = Field(
        description="Model of the ranking; null for an uploaded run", examples=["mdl_01k9x3a7d5f8g2h4j6k9"]
    )
    dataset_id: str = Field(examples=["ds_01k9x2m4q7c8v5n3b6r7"])
    dataset_name: DatasetName = None
    queries: int = Field(examples=[6099])
    documents: int = Field(description="Number of documents of all queries", examples=[731880])
    project: ShownProject
    created_at: datetime

    @classmethod
    def of(cls, row: RankingRow, dataset_name: str | None) -> "RankingEntry":
        """Return the entry of a stored ranking, with the name of its dataset."""
        return cls.model_validate(row).model_copy(update={"dataset_name": dataset_name})


class RankingPage(PageModel):
    """A page of rankings, in the requested order."""

    items: list[RankingEntry]


class RankedDocument(ResponseModel):
    """A document of a stored ranking."""

    document_id: str = Field(examples=["GX029-35-5894638"])
    document_title: str | None = optional_text("Title of the document", "Red running shoe")
    document_url: str | None = optional_text(
        "URL of the document as uploaded, with any scheme", "https://shop.example/sku-1"
    )
    rank: int = Field(examples=[1])
    score: float = Field(examples=[2.31])
    label: float | None = Field(description="Judged label of the document", examples=[2.0])


class RankingItem(ResponseModel):
    """A query of a stored ranking."""

    query_id: str = Field(examples=["10032"])
    query_text: str | None = optional_text("Text that the user searched for", "red shoes")
    documents: list[RankedDocument]


class Ranking(ResponseModel):
    """A page of a stored ranking, by queries in the dataset's order."""

    id: str = Field(examples=["rnk_01k9x3b1d5f8g2h4j6m2"])
    system: str = Field(description="Name of the ranking system", examples=["web:3"])
    model_id: str | None = Field(
        description="Model of the ranking; null for an uploaded run", examples=["mdl_01k9x3a7d5f8g2h4j6k9"]
    )
    dataset_id: str = Field(examples=["ds_01k9x2m4q7c8v5n3b6r7"])
    findings: ModelFindings = None
    project: ShownProject
    items: list[RankingItem]
    next_cursor: NextCursor
