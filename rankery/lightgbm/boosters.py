"""Recognise a booster from one iteration to the next, when LightGBM calls objectives and metrics."""

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from core.types import FloatArray

State = TypeVar("State")


class StateByBooster(Generic[State]):
    """States of boosters that are trained, perhaps alternating, with one objective or metric.

    LightGBM does not identify the booster. It gives a booster's scores of a dataset in one array for
    as long as the booster lives, so that the array identifies both. A state is dropped with its array. Copies
    and pickles hold no states: a training in another process or of a copied objective starts without state.
    """

    def __init__(self) -> None:
        self._states: dict[int, tuple[weakref.ref[Any], State]] = {}

    def __reduce__(self) -> tuple[type["StateByBooster[State]"], tuple[()]]:
        return StateByBooster, ()

    def __len__(self) -> int:
        return len(self._states)

    def of(self, scores: "FloatArray", new: Callable[[], State]) -> State:
        """Return the state of the booster with these scores, a new one at its first call."""
        key = id(scores)
        reference, state = self._states.get(key, (None, None))
        if reference is not None and reference() is scores and state is not None:
            return state
        created = new()
        self._states[key] = weakref.ref(scores, lambda dead: self._forget(key, dead)), created
        return created

    def _forget(self, key: int, dead: "weakref.ref[Any]") -> None:
        # Another array may have taken the place of the dead one.
        if self._states.get(key, (None,))[0] is dead:
            del self._states[key]
