"""Options of exports."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from core.errors import InputProblem, InvalidInput

MAX_NAME = 500  # characters of what an engine calls a feature
VERSION = r"^\d{1,4}(\.\d{1,4}){0,2}$"
NAME = r"^[A-Za-z][A-Za-z0-9._-]{0,99}$"


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export; each format takes some of them (`Target.options`).

    Attributes:
        target_version: Version of the engine, `8.15`; None for one that has everything.
        model_name: What the engine is to call the model; None for the model's own name.
        feature_set: The feature set that the engine keeps the features in, or Solr's feature store.
        feature_names: What the engine calls a feature, by the model's name of it; others keep theirs.
        score_shift: Whether scores are raised so that none is below 0.
        never_missing: Whether every document has every feature, so that it does not matter where missing
            values go.
    """

    target_version: str | None = None
    model_name: str | None = None
    feature_set: str | None = None
    feature_names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    score_shift: bool = False
    never_missing: bool = False

    def given(self) -> list[str]:
        """Name the options that are not as they are by default."""
        return [name for name in OPTIONS if getattr(self, name) != getattr(ExportOptions(), name)]

    def before(self, *version: int) -> bool:
        """Return whether the engine is older than a version."""
        return self.target_version is not None and _parts(self.target_version) < version

    def check(self, taken: frozenset[str], format: str) -> None:
        """Refuse what the format does not take, and what is not written as it should be.

        Raises:
            InvalidInput: At the option.
        """
        problems = [
            InputProblem(
                f"/{name}", f"no option of {format}, which takes {', '.join(sorted(taken)) or 'none'}"
            )
            for name in self.given()
            if name not in taken
        ]
        shapes = (
            ("target_version", VERSION, "must be a version such as 8.15"),
            ("model_name", NAME, "must be 1 to 100 letters, digits, '.', '_' and '-', the first a letter"),
            ("feature_set", NAME, "must be 1 to 100 letters, digits, '.', '_' and '-', the first a letter"),
        )
        for name, shape, words in shapes:
            value = getattr(self, name)
            if value is not None and re.fullmatch(shape, value) is None:
                problems.append(InputProblem(f"/{name}", words))
        if problems:
            raise InvalidInput(*problems)

    def names_of(self, feature_names: tuple[str, ...]) -> tuple[str, ...]:
        """Return what the engine calls the model's features.

        Raises:
            InvalidInput: At the name that is no feature, not fit to be written, or given to two features.
        """
        known = set(feature_names)
        problems = [
            InputProblem(_at(name), "not a feature of this model")
            for name in self.feature_names
            if name not in known
        ]
        problems += [
            InputProblem(_at(name), f"must be 1 to {MAX_NAME} printable characters")
            for name, there in self.feature_names.items()
            if not (1 <= len(there) <= MAX_NAME and there.isprintable())
        ]
        names = tuple(self.feature_names.get(name, name) for name in feature_names)
        ((commonest, times),) = Counter(names).most_common(1)
        if times > 1:
            problems.append(InputProblem("/feature_names", f"{times} features would be called {commonest!r}"))
        if problems:
            raise InvalidInput(*problems[:50])
        return names


OPTIONS = tuple(ExportOptions.__dataclass_fields__)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _at(name: str) -> str:
    return "/feature_names/" + name.replace("~", "~0").replace("/", "~1")
