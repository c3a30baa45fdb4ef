"""Options of exports."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from core.data.feature_choice import unknown_features
from core.errors import InputProblem, InvalidInput, pointer_of

MAX_NAME_LENGTH = 500  # characters of a feature's name in an engine
VERSION = r"^\d{1,4}(\.\d{1,4}){0,2}$"
NAME = r"^[A-Za-z][A-Za-z0-9._-]{0,99}$"
_NAME_RULE = "must be 1 to 100 letters, digits, '.', '_' and '-', the first a letter"


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export; each format supports some of them (`Target.options`).

    Attributes:
        target_version: Version of the engine, `8.15`; None for the newest.
        model_name: Name of the model in the engine; None for the model's name.
        feature_set: Feature set or feature store in the engine.
        feature_names: Names of features in the engine by their names in the model; a feature without an entry
            keeps its name.
        score_shift: Whether to raise scores so that none is below 0.
        never_missing: Whether every document has every feature, so that the direction of missing values has
            no effect.
    """

    target_version: str | None = None
    model_name: str | None = None
    feature_set: str | None = None
    feature_names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    score_shift: bool = False
    never_missing: bool = False

    def changed_names(self) -> list[str]:
        """Return the names of options with other values than the defaults."""
        return [name for name in OPTIONS if getattr(self, name) != getattr(ExportOptions(), name)]

    def is_older_than(self, *version: int) -> bool:
        """Return whether the engine is older than a version, such as `8, 15`; the newest engine never is."""
        target = self.target_version
        return target is not None and tuple(map(int, target.split("."))) < version

    def check(self, supported: frozenset[str], format: str) -> None:
        """Refuse options that the format does not support, and malformed values.

        Args:
            supported: Names of the options that the format supports.
            format: Name of the format, for messages.

        Raises:
            InvalidInput: With a pointer for each invalid option.
        """
        problems = [
            InputProblem(
                f"/{name}",
                f"is not an option of {format}; its options are {', '.join(sorted(supported)) or 'none'}",
            )
            for name in self.changed_names()
            if name not in supported
        ]
        patterns = (
            ("target_version", VERSION, "must be a version such as 8.15"),
            ("model_name", NAME, _NAME_RULE),
            ("feature_set", NAME, _NAME_RULE),
        )
        for name, pattern, rule in patterns:
            value = getattr(self, name)
            if value is not None and re.fullmatch(pattern, value) is None:
                problems.append(InputProblem(f"/{name}", rule))
        if problems:
            raise InvalidInput(*problems)

    def names_of(self, feature_names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the model's features in the engine.

        Raises:
            InvalidInput: At a name that is not a feature, is not printable, or is the name of two features.
        """
        problems = [
            InputProblem(pointer_of("feature_names", name), problem)
            for name, problem in unknown_features(self.feature_names, feature_names, "the model").items()
        ]
        problems += [
            InputProblem(
                pointer_of("feature_names", name), f"must be 1 to {MAX_NAME_LENGTH} printable characters"
            )
            for name, engine_name in self.feature_names.items()
            if not (1 <= len(engine_name) <= MAX_NAME_LENGTH and engine_name.isprintable())
        ]
        names = tuple(self.feature_names.get(name, name) for name in feature_names)
        ((commonest, times),) = Counter(names).most_common(1)
        if times > 1:
            problems.append(
                InputProblem("/feature_names", f"{times} features would have the name {commonest!r}")
            )
        if problems:
            raise InvalidInput(*problems[:50])
        return names


OPTIONS = tuple(ExportOptions.__dataclass_fields__)
