"""The job kind `promote`: move an alias to a version that passes its promotion gate."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from core.jobs.base import DatasetJob
from core.jobs.measures import Measures
from core.jobs.stored import Json, Stored, required
from core.jobs.systems import System, system_name

if TYPE_CHECKING:
    from core.evaluation import GateRule

# Entries of a gate's rule beside its requirement.
_COMPARING = ("contract", "label_map", "permutations", "seed")


@dataclass(frozen=True, kw_only=True)
class PromoteJob(DatasetJob):
    """Compare the current version of an alias with a challenger, and move the alias or refuse.

    Attributes:
        model_name: The name that has the alias.
        alias: The alias.
        champion: The current version.
        challenger: The new version.
        dataset_id: The dataset of the comparison.
        rule: The rule of the gate.
        measures: Metrics and their options.
        permutations: Random assignments of Fisher's randomisation test.
    """

    kind: ClassVar[str] = "promote"
    label: ClassVar[str] = "Promotion"

    model_name: str
    alias: str
    champion: System
    challenger: System
    rule: "GateRule"
    measures: Measures
    permutations: int

    @classmethod
    def from_json(cls, stored: Stored) -> "PromoteJob":
        """Parse the stored JSON."""
        from core.evaluation import GateRule

        champion, challenger = map(System.from_json, required(stored, "systems"))
        return cls(
            model_name=required(stored, "model_name"),
            alias=required(stored, "alias"),
            champion=champion,
            challenger=challenger,
            dataset_id=required(stored, "dataset_id"),
            rule=GateRule(**required(stored, "rule")),
            measures=Measures.from_json(stored),
            permutations=required(stored, "permutations"),
        )

    @classmethod
    def by_gate(
        cls, name: str, alias: str, systems: tuple[System, System], dataset_id: str, rule: Stored
    ) -> "PromoteJob":
        """Return the job that moves an alias if a challenger passes its gate.

        Args:
            name: The name that has the alias.
            alias: The alias.
            systems: Champion and challenger.
            dataset_id: The dataset of the gate.
            rule: The stored rule of the gate, with contract, label map, permutations and seed.
        """
        return cls.from_json(
            {
                "model_name": name,
                "alias": alias,
                "systems": [system.to_json() for system in systems],
                "dataset_id": dataset_id,
                "metrics": [rule["metric"]],
                "rule": {each: value for each, value in rule.items() if each not in _COMPARING},
                **{each: rule[each] for each in _COMPARING},
            }
        )

    def to_json(self) -> Json:
        """Return the JSON to store."""
        return {
            "kind": self.kind,
            "model_name": self.model_name,
            "alias": self.alias,
            "systems": [self.champion.to_json(), self.challenger.to_json()],
            "dataset_id": self.dataset_id,
            "rule": self.rule.to_json(),
            **self.measures.to_json(),
            "permutations": self.permutations,
        }

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the challenger and the alias: `web:4 for @champion`."""
        names = list(filter(None, map(system_name, stored.get("systems") or ())))
        return f"{names[-1]} for @{stored.get('alias')}" if names else None
