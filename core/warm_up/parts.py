"""The kernels in parts, each compiled by one process; the parts of the API come first."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from core.kernel_cache import kernel_cache, warmed_parts
from core.warm_up import kernels

KernelCalls = Callable[[], None]


@dataclass(frozen=True)
class Part:
    """Kernels that are compiled one after the other.

    Attributes:
        warm_up: Compiles the kernels, or loads them from the disk cache.
        after: Functions of parts whose kernels this part calls; compiled first, so that none is compiled
            twice.
    """

    warm_up: KernelCalls
    after: tuple[KernelCalls, ...] = ()

    @property
    def name(self) -> str:
        """Name of the function, such as `pairwise_losses`."""
        return self.warm_up.__name__

    @property
    def mark(self) -> Path:
        """The file that marks the part as compiled."""
        return warmed_parts(kernel_cache()) / self.name

    @property
    def lock(self) -> Path:
        """The file that is locked while the part is compiled."""
        return self.mark.with_name(f"{self.name}.lock")


FORESTS = (Part(kernels.json_features), Part(kernels.forest_requests))
SCORING = (*FORESTS, Part(kernels.network_requests))

# After the parts of the API, the longest chain of dependent parts is first, so that two processes take
# about half the time of one.
PARTS = (
    *SCORING,
    Part(kernels.loss_layout),
    Part(kernels.loss_pairs),
    Part(kernels.letor),
    Part(kernels.randomisation),
    Part(kernels.pairwise_losses, after=(kernels.loss_layout, kernels.loss_pairs)),
    Part(kernels.ranked_labels),
    Part(kernels.doctor_examination),
    Part(kernels.other_losses),
    Part(kernels.long_queries),
    Part(kernels.other_metrics, after=(kernels.ranked_labels,)),
    Part(kernels.binary_metrics, after=(kernels.ranked_labels,)),
    Part(kernels.forest_leaves, after=(kernels.forest_requests,)),
    Part(kernels.diagnostics, after=(kernels.loss_layout,)),
    Part(kernels.export_parity),
    Part(kernels.doctor_comparison, after=(kernels.doctor_examination,)),
    Part(kernels.other_readers),
    Part(kernels.bootstrap),
    Part(kernels.training_draws),
    Part(kernels.linear_descent),
    Part(kernels.shuffles),
    Part(kernels.click_models),
)

# `rankery demo` makes its data, trains trees on two pairwise losses, compares them and ranks a query.
_IN_DEMO = {
    *(kernels.json_features, kernels.forest_requests),
    *(kernels.loss_layout, kernels.loss_pairs, kernels.pairwise_losses),
    *(kernels.ranked_labels, kernels.binary_metrics),
    *(kernels.randomisation, kernels.doctor_examination),
}
DEMO = tuple(part for part in PARTS if part.warm_up in _IN_DEMO)


def missing_parts(parts: Collection[Part] = PARTS) -> list[Part]:
    """List the parts that are not compiled for this processor and these sources."""
    return [part for part in parts if not part.mark.exists()]


def warm_up(parts: Collection[Part] = PARTS) -> None:
    """Load the kernels of the parts from the disk cache into this process, or compile them here."""
    for part in parts:
        part.warm_up()
