"""Random deletions, restores and purges by callers of several projects."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import Random

import pytest
from sqlalchemy.orm import object_session

from core.errors import InvalidInput
from core.store.lifecycle.deletion import (
    Actor,
    DeletionMode,
    delete_objects,
    empty_trash,
    preview,
    preview_of_emptying,
)
from core.store.lifecycle.inventory import FolderSizes
from core.store.trash.dependency_graph import DependencyGraph, Node
from core.store.trash.kinds import COMPARISON, KINDS, kind_of
from core.store.trash.plan import folders_of
from core.store.visibility import limited_to, with_trash
from tests.checksums import checksums_under
from tests.core.store.lifecycle.conftest import ObjectFactory

UNAUDITED = Actor(is_audited=False)
CALLERS = (None, None, ("web",), ("ads",), ("web", "ads"))
STEPS = 40


class Walk:
    """A store in which objects are made, deleted, restored and purged at random.

    Args:
        factory: Factory of the objects.
        random: Source of decisions.
    """

    def __init__(self, factory: ObjectFactory, random: Random) -> None:
        self.factory, self.store, self.random = factory, factory.store, random
        self.ids: list[str] = []
        self.kept_id = factory.job().id

    def make(self) -> None:
        """Make a training with its results, and compare its model with an earlier one."""
        results = self.factory.results()
        jobs = [results.training.id, results.ranking.job_id, results.inspection.job_id]
        result_ids = [results.model.id, results.evaluation.id, results.ranking.id, results.inspection.id]
        with self.store.read() as tx:
            others = [model for model in tx.models.page(None, 9).items if model.id != results.model.id]
        if others:
            compare = self.factory.job("compare")
            result_ids.append(self.factory.comparison(compare, results.model, self.random.choice(others)).id)
            jobs.append(compare.id)
        with self.store.begin() as tx:
            for job_id in jobs:
                tx.jobs.label(job_id, {"project": self.random.choice(["web", "ads", None])}, {})
        # There are three contents, so that most datasets share theirs, also with datasets in the trash.
        dataset = self.factory.dataset(self.random.choice("abc"), self.random.choice(["web", "ads", None]))
        study = self.factory.study(dataset)
        with self.store.read() as tx:
            (trial,) = tx.studies.trials(study.id)
        self.ids += [*jobs, *result_ids, dataset.id, study.id, trial.job_id]

    def delete(self, some: list[str]) -> None:
        """Delete objects of one kind, and require the counts and bytes of the preview."""
        kind = kind_of(some[0])
        assert kind is not None
        mine = [each for each in some if kind_of(each) is kind]
        mode = DeletionMode(self.random.random() < 0.6, self.random.choice([0, 7, 7]))
        planned = preview(self.store, kind, mine, mode, set(), FolderSizes(self.store.artifacts))
        done = delete_objects(self.store, kind, mine, mode, UNAUDITED)
        assert (planned.counts, planned.size_bytes) == (done.counts, done.size_bytes)
        assert planned.refused_count == done.refused_count

    def restore(self, some: list[str]) -> None:
        """Restore objects, unless they need something of another project."""
        with suppress(InvalidInput), self.store.begin() as tx:
            tx.trash.restore(some)

    def purge(self, some: list[str]) -> None:
        """Free objects in the trash, and require the counts and bytes of the preview."""
        planned = preview_of_emptying(self.store, some, DeletionMode())
        done = empty_trash(self.store, some, DeletionMode(), UNAUDITED)
        assert (planned.counts, planned.size_bytes) == (done.counts, done.size_bytes)

    def check(self) -> None:
        """Require that no object lacks one that it needs, and that rows and folders match."""
        objects = self.everything()
        for node in objects.values():
            for needed_id in (*node.needs.values(), *self.compared(node)):
                assert needed_id in objects
                assert node.deleted_at is not None or objects[needed_id].deleted_at is None
        stored = {"/".join(key.split("/")[:2]) for key, _ in self.store.artifacts.sizes(None)}
        folders = folders_of(objects.values())
        assert stored == {each for each in folders if not each.startswith("checkpoints")}
        with self.store.read() as tx:
            digests = {"/".join(digest.key.split("/")[:2]) for digest in checksums_under(tx)}
        assert digests == {each for each in folders if each.startswith(("data/", "models/", "studies/"))}

    def everything(self) -> dict[str, Node]:
        """Return all objects by id, those in the trash too."""
        with self.graph() as graph:
            nodes = [node for kind in KINDS.values() for node in graph.find(kind, self.ids).values()]
        return {node.id: node for node in nodes}

    def compared(self, node: Node) -> list[str]:
        """Return the models that a comparison includes."""
        if node.kind.name != COMPARISON:
            return []
        with self.graph() as graph:
            return graph.systems_of([node.id])

    @contextmanager
    def graph(self) -> Iterator[DependencyGraph]:
        """Open a transaction that sees the trash."""
        with self.store.read() as tx:
            session = object_session(tx.jobs.get(self.kept_id))
            assert session is not None
            with with_trash(session):
                yield DependencyGraph(session)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 7))])
def test_no_object_ever_lacks_one_that_it_needs(factory: ObjectFactory, seed: int) -> None:
    """Callers delete, restore and purge any objects, in any order."""
    random = Random(seed)
    walk = Walk(factory, random)
    for _ in range(3):
        walk.make()
    for _ in range(STEPS):
        if random.random() < 0.1:
            walk.make()
        change = random.choices([walk.delete, walk.restore, walk.purge], [4, 3, 1])[0]
        with limited_to(random.choice(CALLERS)):
            change(random.sample(walk.ids, random.randint(1, 3)))
        walk.check()
