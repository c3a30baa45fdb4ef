"""Gates of aliases, and the datasets that they protect from deletion."""

import pytest

from core.errors import InvalidInput, NotFound
from core.store import Store
from core.store.lifecycle.deletion import Actor, DeletionMode, delete_objects
from core.store.trash.kinds import KINDS
from tests.purging import purge

RULE = {"metric": "ndcg@10"}


def _dataset(store: Store) -> str:
    with store.begin() as tx:
        return tx.datasets.add("judged", {"kind": "upload"}).id


def test_a_gate_is_kept_replaced_and_deleted(store: Store) -> None:
    """An alias has at most one gate, and none after a deletion."""
    first, second = _dataset(store), _dataset(store)
    with store.begin() as tx:
        tx.aliases.set_gate("web", "champion", dataset_id=first, rule=RULE, key_id="key_1")
    with store.begin() as tx:
        tx.aliases.set_gate("web", "champion", dataset_id=second, rule={"metric": "mrr"})
    with store.begin() as tx:
        gate = tx.aliases.gate("web", "champion")
        assert (gate.dataset_id, gate.rule, gate.key_id) == (second, {"metric": "mrr"}, None)
        assert tx.aliases.find_gate("web", "baseline") is None
        tx.aliases.delete_gate("web", "champion")
        assert tx.aliases.find_gate("web", "champion") is None
        with pytest.raises(NotFound, match="gate of 'web@champion'"):
            tx.aliases.delete_gate("web", "champion")


def test_a_gate_protects_its_dataset_from_deletion(store: Store) -> None:
    """The dataset cannot be deleted while the gate exists and uses it; the refusal names the gate."""
    first, second = _dataset(store), _dataset(store)
    with store.begin() as tx:
        tx.aliases.set_gate("web", "champion", dataset_id=first, rule=RULE)
    found = delete_objects(
        store, KINDS["dataset"], [first, second], DeletionMode(trash_days=7), Actor(is_audited=False)
    )
    (refused,) = found.refused
    reasons = {each.name: each.reason for each in refused.holders}
    assert reasons == {"web@champion": "compares versions on it"}
    with store.begin() as tx:
        tx.trash.restore([second])
        tx.aliases.set_gate("web", "champion", dataset_id=second, rule=RULE)
        purge(tx, "dataset", first)
        tx.aliases.delete_gate("web", "champion")
        purge(tx, "dataset", second)


def test_a_gate_needs_a_dataset_and_a_name(store: Store) -> None:
    """A missing dataset and an invalid name of an alias are refused."""
    with store.begin() as tx:
        with pytest.raises(NotFound):
            tx.aliases.set_gate("web", "champion", dataset_id="ds_gone", rule=RULE)
        with pytest.raises(InvalidInput):
            tx.aliases.set_gate("web", "Champion!", dataset_id="ds_gone", rule=RULE)
