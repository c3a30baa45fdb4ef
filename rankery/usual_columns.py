"""Names by which columns of judged tables are recognised without being declared."""

from collections.abc import Mapping
from types import MappingProxyType

USUAL_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "label": ("label", "labels", "relevance", "rel", "grade", "judgment", "judgement", "y", "target"),
        "query": ("query_id", "queryid", "qid", "query", "q", "session_id", "group", "group_id"),
        "document": (
            "document_id",
            "documentid",
            "docid",
            "docno",
            "doc_id",
            "document",
            "doc",
            "did",
            "item_id",
            "product_id",
            "object_id",
            "url",
        ),
        "query_weight": ("query_weight", "weight"),
        "document_weight": ("document_weight", "doc_weight", "propensity_weight", "sample_weight"),
        "query_text": ("query_text", "querytext"),
        "document_title": ("document_title", "doc_title", "title"),
        "document_url": ("document_url", "doc_url", "url"),
    }
)


def is_usual(role: str, name: str) -> bool:
    """Return whether a column's name is usual for a role, in any case, with hyphens or blanks.

    Example:
        >>> is_usual("query", "Query ID"), is_usual("query", "search")
        (True, False)
    """
    return name.lower().replace("-", "_").replace(" ", "_") in USUAL_NAMES[role]
