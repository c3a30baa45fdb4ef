"""The job kind `promote`: move an alias to a version that passes its promotion gate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from core.jobs.base import JobSpec
from core.jobs.measuring import Measures, System, system_names
from core.stored import Stored, entry, read_entries, write_entries

if TYPE_CHECKING:
    from core.evaluation import GateRule

# Entries of a gate's stored rule that are options of the comparison.
_COMPARISON_OPTIONS = ("contract", "label_map", "permutations", "seed")


def _rule(stored: Stored) -> "GateRule":
    from core.evaluation import GateRule

    return read_entries(GateRule, stored, exact=True)


@dataclass(frozen=True, kw_only=True)
class PromoteJob(JobSpec):
    """Compare the current version of an alias with a challenger, and move the alias or refuse.

    Attributes:
        model_name: The name that has the alias.
        systems: Champion, the current version, and challenger, the new version.
        dataset_id: The dataset of the comparison on judgments, None where clicks alone decide.
        permutations: Random assignments of Fisher's randomisation test.
    """

    kind: ClassVar[str] = "promote"
    label: ClassVar[str] = "Promotion"

    model_name: str
    alias: str
    systems: tuple[System, ...]
    dataset_id: str | None = None
    rule: "GateRule" = entry(read=_rule)
    measures: Measures = entry(flat=True)
    permutations: int

    @classmethod
    def by_gate(
        cls, name: str, alias: str, systems: tuple[System, System], dataset_id: str | None, rule: Stored
    ) -> "PromoteJob":
        """Return the job that moves an alias if a challenger passes its gate.

        Args:
            name: The name that has the alias.
            systems: Champion and challenger.
            rule: The stored rule of the gate, with contract, label map, permutations and seed.
        """
        return cls.from_json(
            {
                "model_name": name,
                "alias": alias,
                "systems": [write_entries(system) for system in systems],
                "dataset_id": dataset_id,
                "metrics": [] if rule["metric"] is None else [rule["metric"]],
                "rule": {each: value for each, value in rule.items() if each not in _COMPARISON_OPTIONS},
                **{each: rule[each] for each in _COMPARISON_OPTIONS},
            }
        )

    @property
    def dataset_ids(self) -> Mapping[str, str]:
        """Return the datasets of the comparison."""
        judged = {} if self.dataset_id is None else {"data": self.dataset_id}
        rule = self.rule.counterfactual
        return judged if rule is None else {**judged, "clicks": rule.dataset_id}

    @property
    def click_log_ids(self) -> Mapping[str, str]:
        """Return the click log of a counterfactual rule."""
        rule = self.rule.counterfactual
        return {} if rule is None else {"log": rule.click_log_id}

    @property
    def champion(self) -> System:
        """Return the current version."""
        return self.systems[0]

    @property
    def challenger(self) -> System:
        """Return the new version."""
        return self.systems[1]

    @classmethod
    def title_of(cls, stored: Stored) -> str | None:
        """Return the challenger and the alias: `web:4 for @champion`."""
        names = system_names(stored)
        return f"{names[-1]} for @{stored.get('alias')}" if names else None
