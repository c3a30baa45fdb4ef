"""Every metric by name, and how a metric is spelled: `ndcg`, `ndcg@10`."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from core.errors import InvalidInput
from core.metrics.base import Metric
from core.metrics.binary import AveragePrecision, Precision, Recall, ReciprocalRank
from core.metrics.dcg import Dcg, Ndcg

METRICS: Mapping[str, type[Metric]] = MappingProxyType(
    {
        "ndcg": Ndcg,
        "dcg": Dcg,
        "map": AveragePrecision,
        "mrr": ReciprocalRank,
        "precision": Precision,
        "recall": Recall,
    }
)
_SPELLING = re.compile(r"(?P<name>[a-z-]+)(?:@(?P<cutoff>[1-9][0-9]{0,5}))?")


def parse_metric(text: str) -> Metric:
    """Build a metric from its spelling.

    Raises:
        InvalidInput: For an unknown name or a cutoff that is no whole number from 1 to 999999.

    Example:
        >>> parse_metric("ndcg@10")
        Ndcg(cutoff=10)
    """
    match = _SPELLING.fullmatch(text)
    if match is None or match["name"] not in METRICS:
        raise InvalidInput.at(
            "", f"unknown metric {text[:40]!r}; write {', '.join(METRICS)}, with a cutoff as in ndcg@10"
        )
    cutoff = int(match["cutoff"]) if match["cutoff"] else None
    return METRICS[match["name"]](cutoff)
