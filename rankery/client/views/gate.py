"""Promotion gates."""

from rankery.client.display.card import Card, Shown
from rankery.client.display.texts import moment
from rankery.client.schemas import answers


class GateView(Shown, answers.Gate):
    """The promotion gate of an alias: the checks that a version must pass before the alias moves."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "alias": f"{self.name}@{self.alias}",
            "metric": self.metric or self._of_clicks(),
            "require": self.require.replace("_", " "),
            "p": f"{self.p:g}",
            "dataset": self.dataset_id or "",
            "updated": moment(self.updated_at),
        }

    def _of_clicks(self) -> str:
        return f"{self.counterfactual.metric}, estimated" if self.counterfactual else "interleaving"

    def card(self) -> Card:
        """Return the card of the gate."""
        drop = "" if self.max_slice_drop is None else f"{self.max_slice_drop:g}"
        baselines = "required" if self.better_than_baselines else ""
        facts = {"maximum drop in any segment": drop, "better than baselines": baselines}
        return Card("promotion gate", self.summary() | facts)
