"""Versions of models, promotion gates, datasets and click logs."""

from rankery.client.display.card import Card, CardTable, Displayable
from rankery.client.display.texts import count, loss, moment, number, reason, size
from rankery.client.schemas import answers

_BY_EPOCHS = frozenset({"linear", "mlp"})


class ModelView(Displayable, answers.Model):
    """A version of a model, as last fetched from the service."""

    @property
    def reference(self) -> str:
        """Reference `name:version`."""
        return f"{self.name}:{self.version}"

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "model": self.reference,
            "id": self.id,
            "aliases": ", ".join(self.aliases),
            "kind": self.kind,
            "loss": str((self.loss or {}).get("name", "")),
            "iterations": count(self.best_iteration),
            "created": moment(self.created_at),
        }

    def sizes(self) -> dict[str, str]:
        """Return the number of trees or epochs, or the weights and names of the members of a sum."""
        if self.kind == "sum" and self.scorer is not None:
            weighted = zip(self.scorer["weights"], self.scorer["models"], strict=True)
            return {"members": ", ".join(f"{weight:.4g} × {model}" for weight, model in weighted)}
        return {"epochs" if self.kind in _BY_EPOCHS else "trees": count(self.best_iteration)}

    def card(self) -> Card:
        """Return the card of the resource."""
        facts = {
            "id": self.id,
            "aliases": ", ".join(self.aliases),
            "description": self.description or "",
            "tags": ", ".join(f"{name}={value}" for name, value in self.tags.items()),
            "source": self.source,
            "kind": self.kind,
            "loss": loss(self.loss),
            **self.sizes(),
            "features": count(len(self.feature_names)),
            "size": size(self.size_bytes),
            "created": moment(self.created_at),
        }
        means = [[metric, number(mean)] for metric, mean in (self.metrics or {}).items()]
        tables = [CardTable(["metric", "#mean on its test data"], means)] if means else []
        return Card(f"model {self.reference}", facts, tables=[*tables, *CardTable.of_findings(self.findings)])


class GateView(Displayable, answers.Gate):
    """The promotion gate of an alias: the checks that a version must pass before the alias moves."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return {
            "alias": f"{self.name}@{self.alias}",
            "metric": self.metric or self._clicks_metric(),
            "require": self._requirements(),
            "p": f"{self.p:g}" if self.dataset_id else "",
            "dataset": self.dataset_id or "",
            "updated": moment(self.updated_at),
        }

    def _requirements(self) -> str:
        """Return the gate's requirements on the dataset, on interleavings and on the estimate."""
        requirements = []
        if self.dataset_id:
            requirements.append(self.require + (", beats baselines" if self.better_than_baselines else ""))
        if self.interleaving:
            requirements.append(f"{self.interleaving} by interleaving")
        if self.counterfactual:
            margin = self.counterfactual.margin
            required = f"worse by less than {margin:g}" if margin else "better"
            requirements.append(f"{required}, estimated")
        return "; ".join(requirements).replace("_", " ")

    def _clicks_metric(self) -> str:
        return f"{self.counterfactual.metric}, estimated" if self.counterfactual else "interleaving"

    def card(self) -> Card:
        """Return the card of the gate."""
        drop = "" if self.max_slice_drop is None else f"{self.max_slice_drop:g}"
        baselines = "required" if self.better_than_baselines else ""
        facts = {"maximum drop in any segment": drop, "better than baselines": baselines}
        return Card("promotion gate", self.summary() | facts)


class DatasetView(Displayable, answers.Dataset):
    """A judged dataset, as last fetched from the service."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return _summary(self, "queries", "documents", "features")

    def card(self) -> Card:
        """Return the card of the resource."""
        return _card("dataset", self, self.summary())


class ClickLogView(Displayable, answers.ClickLog):
    """A click log, as last fetched from the service."""

    def summary(self) -> dict[str, str]:
        """Return the table row of this object, as texts by column."""
        return _summary(self, "lists", "impressions", "clicks")

    def card(self) -> Card:
        """Return the card of the resource."""
        statistics = self.statistics or {}
        others = {unit: count(statistics.get(unit)) for unit in ("queries", "documents", "users")}
        ranks = [
            [str(one["rank"]), count(one["impressions"]), count(one["clicks"])]
            for one in statistics.get("ranks", ())
        ]
        tables = [CardTable(["#rank", "#impressions", "#clicks"], ranks)] if ranks else []
        return _card("click log", self, self.summary() | others, *tables)


def _summary(data: answers.Dataset | answers.ClickLog, *units: str) -> dict[str, str]:
    statistics = data.statistics or {}
    counts = {unit: count(statistics.get(unit)) for unit in units}
    facts = {"id": data.id, "name": data.name, "status": data.status}
    return {**facts, **counts, "created": moment(data.created_at)}


def _card(
    kind: str, data: answers.Dataset | answers.ClickLog, facts: dict[str, str], *tables: CardTable
) -> Card:
    facts["size"] = size(data.size_bytes)
    facts["why"] = reason(data.problem)
    shown = [*_error_tables(data.problem), *CardTable.of_findings(data.findings), *tables]
    return Card(f"{kind} {facts.pop('name')}", facts, tables=shown)


def _error_tables(problem: answers.FailureReason | None) -> list[CardTable]:
    """Return a table of the error locations of a problem; an empty list if it has none."""
    errors = (problem and problem.errors) or ()
    rows = [[_location(error), str(error.get("detail", ""))] for error in errors]
    return [CardTable(["location", "error"], rows)] if rows else []


def _location(error: dict[str, object]) -> str:
    numbers = {str(error.get("unit", "line")): error.get("line"), "column": error.get("column")}
    named = [f"{name} {number}" for name, number in numbers.items() if number is not None]
    return ", ".join([str(error[name]) for name in ("file",) if error.get(name)] + named)
