"""The job kind `click-model`: estimate click models of a log."""

from dataclasses import dataclass
from typing import ClassVar

from core.clicks.models.specification import ClickModelSpec
from core.errors import InvalidInput
from core.jobs.base import ClickLogJob, Lane
from core.parameters import build, stored_values, values_of
from core.stored import Stored, entry


def model_options(stored: Stored) -> ClickModelSpec:
    """Build the options of a stored or requested specification.

    Raises:
        InvalidInput: With a pointer below `/options`.
    """
    try:
        return build(ClickModelSpec, stored_values(ClickModelSpec, stored))
    except InvalidInput as invalid:
        raise invalid.below("/options") from invalid


@dataclass(frozen=True, kw_only=True)
class ClickModelJob(ClickLogJob):
    """Estimate click models of a log, compare them on held-out lists, and report the best one.

    Attributes:
        log_name: Name of the log.
        models: Names of the models.
        options: Their options; its `model` has no effect.
        held_out: Share of users, or of lists where the log has no users, to compare on.
    """

    kind: ClassVar[str] = "click-model"
    label: ClassVar[str] = "Click model"
    titled_by: ClassVar[tuple[str, ...]] = ("log_name",)
    lane: ClassVar[Lane] = Lane.TRAINING

    log_name: str
    models: tuple[str, ...]
    options: ClickModelSpec = entry(read=model_options, write=values_of)
    held_out: float = 0.2
