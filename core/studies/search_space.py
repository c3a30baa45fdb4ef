"""The search space of a study: the varied parts of a training specification and their bounds."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from types import MappingProxyType
from typing import Any

from core.errors import InputProblem, InvalidInput, pointer_of
from core.studies.pointers import ABSENT, are_related, read, replaced, tokens_of

Json = dict[str, Any]
MAX_DIMENSIONS = 50
MAX_GRID = 10_000
_MAX_STEPS = 2**53  # consecutive whole numbers have different floats up to here
# Maximum number of combinations of the choices that other parameters depend on.
_MAX_BRANCHES = 200
_ROOTS = ("loss", "hyperparameters", "scorer")


@dataclass(frozen=True)
class Dimension:
    """One searched parameter.

    Attributes:
        pointer: JSON pointer into the training specification, `/hyperparameters/num_leaves`.
        type: `float`, `int` or `choice`.
        low: Smallest value of a number.
        high: Largest value of a number.
        log: Whether numbers are drawn uniformly in their logarithm.
        step: Distance between values of a number; None for a continuous float, or an int with a step of 1.
        choices: Values of a choice, which may be any JSON.
        when: Condition: allowed values of other parts of the specification by pointer. If it is not met, the
            parameter is omitted.
    """

    pointer: str
    type: str
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    step: float | None = None
    choices: tuple[Any, ...] = ()
    when: Mapping[str, tuple[Any, ...]] = field(default_factory=lambda: MappingProxyType({}))

    def is_active(self, document: Json) -> bool:
        """Return whether a specification meets the condition `when` of the parameter."""
        return all(read(document, pointer) in values for pointer, values in self.when.items())

    def contains(self, value: Any) -> bool:
        """Return whether a value is within the bounds, or one of the choices."""
        if self.type == "choice":
            return any(value == choice and type(value) is type(choice) for choice in self.choices)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if self.type == "int" and int(value) != value:
            return False
        if not self.low <= value <= self.high:
            return False
        if self.step is None:
            return True
        nearest = self.value(round((value - self.low) / self.step))
        return math.isclose(nearest, value, rel_tol=1e-12, abs_tol=1e-8 * self.step)

    @property
    def steps(self) -> int:
        """Number of steps from the smallest to the largest value of a number with a step."""
        return int((self.high - self.low) / (self.step or 1.0) + 1e-9)

    def value(self, step: int) -> Any:
        """Return the value at a number of steps above the smallest one: 0.3, not 0.30000000000000004."""
        value = Decimal(repr(self.low)) + step * Decimal(repr(self.step or 1))
        return round(value) if self.type == "int" else min(float(value), self.high)

    def quantile(self, share: float) -> Any:
        """Return the quantile of the sampling distribution at a share in [0, 1)."""
        if self.type == "choice":
            return self.choices[min(int(share * len(self.choices)), len(self.choices) - 1)]
        if self.step is not None or self.type == "int":
            return self._value_at_step(share)
        if self.log:
            return math.exp(math.log(self.low) + share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)

    def grid(self) -> tuple[Any, ...]:
        """Return all values of the parameter.

        Raises:
            InvalidInput: There are too many values, or a float has no step.
        """
        if self.type == "choice":
            return self.choices
        if self.type == "float" and self.step is None:
            raise InvalidInput.at("/step", "the sampler grid needs a step for each float, or choices")
        count = self.steps + 1
        if count > MAX_GRID:
            raise InvalidInput.at(
                "", f"has {count:,} values; a grid can have at most {MAX_GRID:,} combinations"
            )
        return tuple(self.value(step) for step in range(count))

    def _value_at_step(self, share: float) -> Any:
        if self.log:
            low, high = math.log(self.low - 0.5), math.log(self.high + 0.5)
            value = round(math.exp(low + share * (high - low)))
            return int(min(max(value, self.low), self.high))
        return self.value(min(int(share * (self.steps + 1)), self.steps))


@dataclass(frozen=True)
class SearchSpace:
    """All searched parameters, each after the parameters that its condition depends on.

    Attributes:
        dimensions: Parameters in the order in which values are chosen.
    """

    dimensions: tuple[Dimension, ...]

    def choose(self, base: Json, value_of: Callable[[Dimension], Any]) -> Json:
        """Return a value for each active parameter, by pointer.

        Args:
            base: The specification that the values modify.
            value_of: Returns the value of a parameter; called in order, only for active parameters.
        """
        parameters: Json = {}
        document = base
        for dimension in self.dimensions:
            if dimension.is_active(document):
                value = parameters[dimension.pointer] = value_of(dimension)
                document = replaced(document, dimension.pointer, value)
        return parameters

    def applied(self, base: Json, parameters: Mapping[str, Any]) -> Json:
        """Return the specification with these values."""
        document = base
        for dimension in self.dimensions:
            if dimension.pointer in parameters:
                document = replaced(document, dimension.pointer, parameters[dimension.pointer])
        return document

    def values_in(self, base: Json, resolved: Json) -> Json:
        """Return the values that a base specification gives to the active parameters; None where it has none.

        Args:
            resolved: The specification with its defaults.
        """

        def value_of(dimension: Dimension) -> Any:
            value = read(base, dimension.pointer)
            if value is ABSENT:
                value = read(resolved, dimension.pointer)
            return None if value is ABSENT else value

        active = (dimension for dimension in self.dimensions if dimension.is_active(resolved))
        return {dimension.pointer: value_of(dimension) for dimension in active}

    def check(self, base: Json, parameters: Mapping[str, Any]) -> None:
        """Refuse values outside the search space.

        Raises:
            InvalidInput: A parameter is unknown, missing or out of bounds.
        """
        by_pointer = {dimension.pointer: dimension for dimension in self.dimensions}
        problems = {
            pointer: "is not a parameter of the search space"
            for pointer in parameters
            if pointer not in by_pointer
        }
        document = self.applied(base, parameters)
        for pointer, dimension in by_pointer.items():
            if not dimension.is_active(document):
                if pointer in parameters:
                    problems[pointer] = (
                        "has no effect, because the condition `when` of the parameter is not met"
                    )
            elif pointer not in parameters:
                problems[pointer] = "is missing"
            elif not dimension.contains(parameters[pointer]):
                problems[pointer] = f"must be {_expected_values(dimension)}"
        if problems:
            raise InvalidInput(
                *(InputProblem(pointer_of(pointer), detail) for pointer, detail in problems.items())
            )

    def combinations(self, base: Json) -> Iterator[Json]:
        """Yield every combination of values, each once.

        Raises:
            InvalidInput: A float has no step, or a parameter has too many values.
        """

        def combinations_of(dimensions: Sequence[Dimension], document: Json, chosen: Json) -> Iterator[Json]:
            if not dimensions:
                yield chosen
                return
            dimension, *others = dimensions
            if not dimension.is_active(document):
                yield from combinations_of(others, document, chosen)
                return
            for value in dimension.grid():
                with_value = replaced(document, dimension.pointer, value)
                yield from combinations_of(others, with_value, {**chosen, dimension.pointer: value})

        return combinations_of(self.dimensions, base, {})

    def grid(self, base: Json) -> list[Json]:
        """Return every combination of values.

        Raises:
            InvalidInput: A float has no step, or there are too many values or combinations.
        """
        problems: list[InputProblem] = []
        for dimension in self.dimensions:
            try:
                dimension.grid()
            except InvalidInput as invalid:
                problems += invalid.below(pointer_of(dimension.pointer)).problems
        if problems:
            raise InvalidInput(*problems)
        combinations = list(islice(self.combinations(base), MAX_GRID + 1))
        if len(combinations) > MAX_GRID:
            raise InvalidInput.at("", f"has more than {MAX_GRID:,} combinations, the maximum of a grid")
        return combinations

    def examples(self, base: Json) -> Iterator[tuple[Dimension, str, Json]]:
        """Yield a specification for each bound or choice of each parameter.

        If parameters depend on choices, this is repeated for every combination of these choices, at most
        `_MAX_BRANCHES` times.

        Yields:
            The parameter, the pointer to the value within it (`/low` or `/choices/1`), and the specification:
            the base with this value and one combination of choices.
        """
        choices = self._choices_with_dependents()
        branches = SearchSpace(tuple(choices)).combinations(base)
        for branch in islice(branches, _MAX_BRANCHES):
            for dimension in self.dimensions:
                if dimension.pointer in branch or not dimension.is_active(self.applied(base, branch)):
                    continue
                for pointer, value in _bounds_and_choices(dimension):
                    yield dimension, pointer, self.applied(base, {**branch, dimension.pointer: value})
        for dimension in choices:
            for pointer, value in _bounds_and_choices(dimension):
                yield dimension, pointer, self.applied(base, {dimension.pointer: value})

    def _choices_with_dependents(self) -> list[Dimension]:
        """Return the choices that other parameters depend on."""
        return [
            each
            for each in self.dimensions
            if each.type == "choice" and any(_depends(other, each) for other in self.dimensions)
        ]


def search_space(stored: Mapping[str, Mapping[str, Any]]) -> SearchSpace:
    """Parse a search space from JSON.

    Raises:
        InvalidInput: The number of parameters, a pointer, bounds, choices or a condition are invalid.
    """
    problems: list[InputProblem] = []
    if not 1 <= len(stored) <= MAX_DIMENSIONS:
        raise InvalidInput.at("", f"must have 1 to {MAX_DIMENSIONS} parameters")
    dimensions = []
    for pointer, values in stored.items():
        try:
            dimensions.append(_dimension(pointer, values))
        except InvalidInput as invalid:
            problems += invalid.below(pointer_of(pointer)).problems
    if problems:
        raise InvalidInput(*problems)
    return SearchSpace(_ordered(dimensions))


def _dimension(pointer: str, values: Mapping[str, Any]) -> Dimension:
    tokens = tokens_of(pointer)
    is_whole = len(tokens) == 1 and tokens != ("loss",)
    if not pointer.startswith("/") or not tokens or tokens[0] not in _ROOTS or is_whole:
        raise InvalidInput.at(
            "", "must be a pointer to /loss, or to a part of /loss, /hyperparameters or /scorer"
        )
    when = {condition: tuple(allowed) for condition, allowed in (values.get("when") or {}).items()}
    if any(are_related(pointer, other) and len(tokens_of(other)) >= len(tokens) for other in when):
        raise InvalidInput.at("/when", "must not depend on the parameter itself")
    return (_choice if values["type"] == "choice" else _number)(pointer, values, when)


def _number(pointer: str, values: Mapping[str, Any], when: Mapping[str, tuple[Any, ...]]) -> Dimension:
    low, high, log, step = values["low"], values["high"], bool(values.get("log")), values.get("step")
    for bound, value in (("/low", low), ("/high", high)):
        if not math.isfinite(value):
            raise InvalidInput.at(bound, "must be a finite number")
    if values["type"] == "int" and (int(low) != low or int(high) != high or int(step or 1) != (step or 1)):
        raise InvalidInput.at("/low", "must be a whole number; high and step, too")
    if low > high:
        raise InvalidInput.at("/high", f"must be at least low, {low:g}")
    if log and low <= 0:
        raise InvalidInput.at("/low", "must be above 0 if log is true")
    if step is not None and not 0 < step < math.inf:
        raise InvalidInput.at("/step", "must be a finite number above 0")
    if log and step is not None:
        raise InvalidInput.at("/step", "cannot be combined with log")
    if step is not None and (high - low) / step > _MAX_STEPS:
        raise InvalidInput.at("/step", "is too small for the bounds; increase it, or leave it out")
    return Dimension(pointer, values["type"], low, high, log, step, when=when)


def _choice(pointer: str, values: Mapping[str, Any], when: Mapping[str, tuple[Any, ...]]) -> Dimension:
    choices = tuple(values["choices"])
    if not choices:
        raise InvalidInput.at("/choices", "must not be empty")
    for index, choice in enumerate(choices):
        if any(choice == other and type(choice) is type(other) for other in choices[:index]):
            raise InvalidInput.at(f"/choices/{index}", "is listed twice")
    return Dimension(pointer, "choice", choices=choices, when=when)


def _ordered(dimensions: Sequence[Dimension]) -> tuple[Dimension, ...]:
    """Sort the parameters, each after the parameters that it depends on."""
    remaining, ordered = list(dimensions), []
    while remaining:
        ready = [
            each
            for each in remaining
            if not any(_depends(each, other) for other in remaining if other != each)
        ]
        if not ready:
            pointer = pointer_of(remaining[0].pointer, "when")
            raise InvalidInput.at(pointer, "depends on a parameter that depends on this one")
        ordered += ready
        remaining = [each for each in remaining if each not in ready]
    return tuple(ordered)


def _depends(dimension: Dimension, other: Dimension) -> bool:
    """Return whether a parameter is a part of another parameter, or has a condition on it."""
    if dimension.pointer == other.pointer:
        return False
    parent = tokens_of(other.pointer)
    is_part = tokens_of(dimension.pointer)[: len(parent)] == parent
    return is_part or any(are_related(other.pointer, condition) for condition in dimension.when)


def _bounds_and_choices(dimension: Dimension) -> Iterator[tuple[str, Any]]:
    """Yield the pointer, `/low` or `/choices/1`, and the value of each bound or choice."""
    if dimension.type == "choice":
        for index, choice in enumerate(dimension.choices):
            yield f"/choices/{index}", choice
    else:
        is_int = dimension.type == "int"
        yield "/low", int(dimension.low) if is_int else dimension.low
        yield "/high", int(dimension.high) if is_int else dimension.high


def _expected_values(dimension: Dimension) -> str:
    if dimension.type == "choice":
        return "one of the choices"
    kind = "a whole number" if dimension.type == "int" else "a number"
    step = f" in steps of {dimension.step:g}" if dimension.step else ""
    return f"{kind} from {dimension.low:g} to {dimension.high:g}{step}"
