"""Recognise a booster from one iteration to the next, when LightGBM calls objectives and metrics."""

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from core.types import FloatArray

State = TypeVar("State")


class StateByBooster(Generic[State]):
    """States of boosters that are trained, perhaps alternating, with one objective or metric.

    LightGBM does not pass the booster to an objective or metric. It passes the scores of a booster on a
    dataset, in the same array for the lifetime of the booster. So the array identifies booster and dataset. A
    state is dropped with its array. Copies and pickles hold no states, so a training in another process or of
    a copied objective starts without state.
    """

    def __init__(self) -> None:
        self._states: dict[int, tuple[weakref.ref[Any], State]] = {}

    def __reduce__(self) -> tuple[type["StateByBooster[State]"], tuple[()]]:
        return StateByBooster, ()

    def __len__(self) -> int:
        return len(self._states)

    def of(self, scores: "FloatArray", new: Callable[[], State]) -> State:
        """Return the state of the booster with this score array; create it at the first call."""
        key = id(scores)
        reference, state = self._states.get(key, (None, None))
        if reference is not None and reference() is scores and state is not None:
            return state
        created = new()
        self._states[key] = weakref.ref(scores, lambda dead: self._forget(key, dead)), created
        return created

    def _forget(self, key: int, dead: "weakref.ref[Any]") -> None:
        # A new array may have the same id as the collected one.
        if self._states.get(key, (None,))[0] is dead:
            del self._states[key]
