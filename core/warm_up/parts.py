"""The kernels in parts, each compiled by one process; the parts of the API come first."""

import importlib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from core.kernel_cache import kernel_cache, warmed_parts


@dataclass(frozen=True)
class Part:
    """Kernels that are compiled one after the other.

    Attributes:
        package: Package of core whose module `warm_up` calls them.
        after: Names of parts whose kernels this part calls; compiled first, so that none is compiled twice.
    """

    package: str
    function: str
    after: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Package and function, such as `losses.pairwise`."""
        return f"{self.package}.{self.function}"

    @property
    def mark(self) -> Path:
        """The file that marks the part as compiled."""
        return warmed_parts(kernel_cache()) / self.name

    @property
    def lock(self) -> Path:
        """The file that is locked while the part is compiled."""
        return self.mark.with_name(f"{self.name}.lock")

    def warm_up(self) -> None:
        """Compile the kernels, or load them from the disk cache."""
        getattr(importlib.import_module(f"core.{self.package}.warm_up"), self.function)()


FORESTS = (Part("json_values", "features"), Part("scoring", "requests"))
SCORING = (*FORESTS, Part("scorers", "requests"))

# After the parts of the API, the longest chain of dependent parts is first, so that two processes take
# about half the time of one.
PARTS = (
    *SCORING,
    Part("losses", "layout"),
    Part("losses", "pairs"),
    Part("data", "letor"),
    Part("evaluation", "randomisation"),
    Part("losses", "pairwise", after=("losses.layout", "losses.pairs")),
    Part("metrics", "ranked"),
    Part("doctor", "examination"),
    Part("losses", "other_losses"),
    Part("losses", "long_queries"),
    Part("metrics", "other_metrics", after=("metrics.ranked",)),
    Part("metrics", "binary", after=("metrics.ranked",)),
    Part("scoring", "leaves", after=("scoring.requests",)),
    Part("diagnostics", "losses", after=("losses.layout",)),
    Part("export", "parity_kernels"),
    Part("doctor", "comparison", after=("doctor.examination",)),
    Part("data", "other_readers"),
    Part("evaluation", "bootstrap"),
    Part("training", "sampling"),
    Part("training", "linear_descent"),
    Part("inspection", "shuffles"),
    Part("clicks.models", "estimation"),
)

# `rankery demo` makes its data, trains trees on two pairwise losses, compares them and ranks a query.
_NOT_IN_DEMO = {
    "clicks.models.estimation",
    "data.letor",
    "data.other_readers",
    "diagnostics.losses",
    "doctor.comparison",
    "evaluation.bootstrap",
    "export.parity_kernels",
    "inspection.shuffles",
    "losses.long_queries",
    "losses.other_losses",
    "metrics.other_metrics",
    "scorers.requests",
    "scoring.leaves",
    "training.linear_descent",
    "training.sampling",
}
DEMO = tuple(part for part in PARTS if part.name not in _NOT_IN_DEMO)


def missing_parts(parts: Collection[Part] = PARTS) -> list[Part]:
    """List the parts that are not compiled for this processor and these sources."""
    return [part for part in parts if not part.mark.exists()]


def warm_up(parts: Collection[Part] = PARTS) -> None:
    """Load the kernels of the parts from the disk cache into this process, or compile them here."""
    for part in parts:
        part.warm_up()
