"""Pictures of the guide, computed from the code that they explain, in the colours of the page."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from guide.pictures.discounts import discounts
from guide.pictures.pairwise_losses import pairwise_losses
from guide.pictures.processes import processes
from guide.pictures.ranks import ranks
from guide.pictures.selections import selections
from guide.pictures.weights import weights

PICTURES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "discounts": discounts,
        "pairwise_losses": pairwise_losses,
        "processes": processes,
        "ranks": ranks,
        "selections": selections,
        "weights": weights,
    }
)
