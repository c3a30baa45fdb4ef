"""Aliases: moves, their history, and rollbacks."""

import threading
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import NotFound, WrongState
from core.store import Job, Model, Promotion, Store
from core.store.lifecycle.deletion import Actor, DeletionMode, delete_objects
from core.store.trash.kinds import KINDS

AddModel = Callable[[str], Model]
Change = tuple[str, int | None, int | None]


@pytest.fixture
def web(add_model: AddModel) -> list[Model]:
    """Four versions of `web`."""
    return [add_model("web") for _ in range(4)]


def move(store: Store, *versions: int, alias: str = "champion") -> None:
    """Move an alias to one version after the other."""
    for version in versions:
        with store.begin() as tx:
            tx.aliases.move("web", alias, version, "key_1")


def roll_back(store: Store) -> int:
    """Undo the last move and return the version of the alias afterwards."""
    with store.begin() as tx:
        return tx.aliases.roll_back("web", "champion", "key_2").model.version


def history(store: Store) -> list[Change]:
    """Return the kind and the versions of each change, oldest first."""
    with store.read() as tx:
        rows = tx.aliases.history("web", "champion", None, 100).items
    return [(row.kind, row.from_version, row.to_version) for row in rows[::-1]]


def test_every_move_is_recorded(store: Store, web: list[Model]) -> None:
    """Each entry has the versions before and after, and the key; a move to the same version has no entry."""
    move(store, 1, 3, 3, 2)
    assert history(store) == [("moved", None, 1), ("moved", 1, 3), ("moved", 3, 2)]
    with store.read() as tx:
        newest = tx.aliases.history("web", "champion", None, 1)
        assert newest.items[0].key_id == "key_1"
        rest = tx.aliases.history("web", "champion", newest.next_cursor, 10)
    assert [row.to_version for row in rest.items] == [3, 1]


def test_repeated_rollbacks_go_further_back(store: Store, web: list[Model]) -> None:
    """Each rollback undoes one more move, until none is left; a later move can be undone, too."""
    move(store, 1, 2, 3)
    assert [roll_back(store), roll_back(store)] == [2, 1]
    with pytest.raises(WrongState, match="alias web@champion is at version 1: it has no previous version"):
        roll_back(store)
    move(store, 4)
    assert roll_back(store) == 1
    assert history(store)[3:] == [
        ("rolled_back", 3, 2),
        ("rolled_back", 2, 1),
        ("moved", 1, 4),
        ("rolled_back", 4, 1),
    ]


def test_the_first_recorded_move_of_an_older_alias_can_be_undone(store: Store, web: list[Model]) -> None:
    """Earlier releases recorded no moves, so nothing before the first recorded move can be undone."""
    move(store, 1)
    with store.begin() as tx:
        tx.aliases.get("web", "champion").move_id = None
    move(store, 2)
    assert roll_back(store) == 1
    with pytest.raises(WrongState):
        roll_back(store)


def test_a_removed_alias_leaves_its_history(store: Store, web: list[Model]) -> None:
    """An alias that is set again has no previous version."""
    move(store, 1, 2)
    with store.begin() as tx:
        tx.aliases.remove("web", "champion")
    with store.begin() as tx:
        assert tx.aliases.find("web", "champion") is None
        with pytest.raises(NotFound):
            tx.aliases.remove("web", "champion")
        with pytest.raises(NotFound):
            tx.aliases.roll_back("web", "champion")
    move(store, 3)
    with pytest.raises(WrongState):
        roll_back(store)
    assert history(store)[2:] == [("removed", 2, None), ("moved", None, 3)]


def test_a_promotion_requires_the_compared_champion(store: Store, web: list[Model], job: Job) -> None:
    """It fails unless the alias has this version or the new one; rollbacks skip refused promotions."""
    move(store, 1, 2)

    def promotion(champion: int, challenger: int) -> Promotion:
        ids = web[champion - 1].id, web[challenger - 1].id
        return Promotion("web", "champion", *ids, job_id=job.id, key_id="key_3", report={"admitted": True})

    with store.begin() as tx:
        with pytest.raises(WrongState, match="is at version 2: it changed while version 3 was compared"):
            tx.aliases.promote(promotion(1, 3))
        tx.aliases.refuse(promotion(2, 4))
        assert tx.aliases.promote(promotion(2, 3)).model.version == 3
        line = tx.aliases.history("web", "champion", None, 1).items[0]
        assert (line.kind, line.job_id, line.key_id) == ("promoted", job.id, "key_3")
        assert line.report == {"admitted": True}
        # Another promotion of version 3, such as that of a schedule, has ended first.
        assert tx.aliases.promote(promotion(1, 3)).model.version == 3
    assert history(store)[2:] == [("refused", 2, 4), ("promoted", 2, 3)]
    assert [roll_back(store), roll_back(store)] == [2, 1]
    with store.begin() as tx:
        tx.aliases.remove("web", "champion")
        with pytest.raises(WrongState, match="is removed"):
            tx.aliases.promote(promotion(1, 3))


@pytest.mark.both_stores
def test_concurrent_moves_are_serialized(store: Store, web: list[Model]) -> None:
    """Each move begins at the version where the previous one ended; rollbacks can undo all but the first."""
    threads = [threading.Thread(target=move, args=(store, *versions)) for versions in ((1, 2, 3), (4, 3, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = history(store)
    with store.read() as tx:
        now = tx.models.resolve("web@champion").version
    origins = [source or 0 for _, source, _ in lines] + [now]
    targets = [0] + [target or 0 for _, _, target in lines]
    assert sorted(origins) == sorted(targets)
    for _ in range(len(lines) - 1):
        roll_back(store)
    with pytest.raises(WrongState):
        roll_back(store)


def test_a_rollback_to_a_deleted_version_names_the_solution(store: Store, web: list[Model]) -> None:
    """After the version is restored from the trash, the rollback succeeds."""
    move(store, 1, 2)
    mode, unaudited = DeletionMode(with_results=True, trash_days=7), Actor(is_audited=False)
    delete_objects(store, KINDS["model"], [web[0].id], mode, unaudited)
    with pytest.raises(
        WrongState, match="at version 2: its previous version, web:1, was deleted; restore it"
    ):
        roll_back(store)
    with store.begin() as tx:
        tx.trash.restore([web[0].id])
    assert roll_back(store) == 1


@pytest.mark.embedded
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([0, 1, 2, 3, 4]), max_size=8))
def test_rollbacks_are_a_stack(store: Store, web: list[Model], steps: list[int]) -> None:
    """Moves (1 to 4) and rollbacks (0) in any order act like pushes and pops on a stack of versions."""
    with store.begin() as tx:
        if tx.aliases.find("web", "champion"):
            tx.aliases.remove("web", "champion")
    stack: list[int] = []
    for step in steps:
        if step:
            move(store, step)
            if stack[-1:] != [step]:
                stack.append(step)
        elif len(stack) > 1:
            stack.pop()
            assert roll_back(store) == stack[-1]
    with store.read() as tx:
        row = tx.aliases.find("web", "champion")
    assert (row.model.version if row else None) == (stack[-1] if stack else None)
