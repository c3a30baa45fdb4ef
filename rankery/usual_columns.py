"""Names by which columns of judged tables are recognised without being declared."""

from collections.abc import Collection, Iterable, Mapping
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

# Further columns with usual names of these roles describe the document.
ROLES_OF_DOCUMENTS = ("document", "document_weight")


def is_usual(role: str, name: str) -> bool:
    """Return whether a column's name is usual for a role, in any case, with hyphens or blanks.

    Example:
        >>> is_usual("query", "Query ID"), is_usual("query", "search")
        (True, False)
    """
    return _normalised(name) in USUAL_NAMES[role]


def usual_columns(role: str, names: Iterable[str]) -> list[str]:
    """Return the columns with a usual name of a role; a URL is the document only without an id."""
    usual = [name for name in names if is_usual(role, name)]
    if role == "document":
        return [name for name in usual if not is_usual("document_url", name)] or usual
    return usual


def columns_for(role: str, names: Iterable[str], texts: Collection[str] = ()) -> list[str]:
    """Return the columns that may have a role; the first of the usual names goes before the others.

    The others must be no features: further ids and weights of documents, or texts beside the id of the query.

    Example:
        >>> columns_for("document", ["product_id", "document_id"]), columns_for("label", ["grade", "label"])
        (['document_id'], ['grade', 'label'])
    """
    usual = usual_columns(role, names)
    first = [name for name in usual if _normalised(name) == USUAL_NAMES[role][0]]
    others_are_texts = role == "query" and set(usual).difference(first) <= set(texts)
    return first if len(first) == 1 and (role in ROLES_OF_DOCUMENTS or others_are_texts) else usual


def _normalised(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_")
