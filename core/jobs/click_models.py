"""The job kind `click-model`: compare click models of a log, and estimate the best one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from core.clicks.models.specification import ClickModelSpec
from core.errors import InvalidInput
from core.jobs.base import ClickLogJob, Lane
from core.parameters import build, stored_values, values_of
from core.stored import Stored, entry

_Options = TypeVar("_Options")


def options_at(pointer: str, cls: type[_Options]) -> Callable[[Stored], _Options]:
    """Return a function that parses stored or requested options; its errors have pointers below `pointer`."""

    def options(stored: Stored) -> _Options:
        try:
            return build(cls, stored_values(cls, stored))
        except InvalidInput as invalid:
            raise invalid.below(pointer) from invalid

    return options


model_options = options_at("/options", ClickModelSpec)


@dataclass(frozen=True, kw_only=True)
class ClickModelJob(ClickLogJob):
    """Compare click models of a log on held-out lists, and estimate the best one on all lists.

    Attributes:
        log_name: Name of the log.
        models: Names of the models.
        options: Options of all models; the field `model` is ignored.
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
