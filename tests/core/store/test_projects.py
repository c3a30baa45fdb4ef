"""Projects in the store: rows of a limited context, projects of new rows, and moves between projects."""

from collections.abc import Callable
from typing import Any

import pytest

from core.errors import InvalidInput, JobQuotaExceeded, NotFound
from core.jobs import System
from core.jobs.train import TrainJob
from core.store import Job, Model, Store
from core.store.labelling import LabelChanges, label_objects
from core.store.repositories.projects import MAX_TAGS, Labels
from core.store.trash.kinds import KINDS
from core.store.visibility import NO_PROJECT, limited_to, narrowed_to, visible_projects

SHA256 = "0" * 64


def training(dataset_id: str, name: str = "web") -> TrainJob:
    """Return a training of a dataset."""
    body = {
        "model_name": name,
        "dataset_id": dataset_id,
        "loss": {"name": "lambdarank"},
        "metrics": ["ndcg@10"],
        "contract": "default",
    }
    return TrainJob.from_json(body)


def ready(store: Store, project: str | None) -> str:
    """Record a ready dataset; return its id."""
    with store.begin() as tx:
        dataset = tx.datasets.add("judged", {"kind": "synthetic"}, project=project)
        tx.datasets.mark_ready(dataset.id, statistics={})
    return dataset.id


def finish(store: Store, job: Job, name: str = "web") -> Model:
    """End a training with a model and its evaluation and ranking."""
    with store.begin() as tx:
        claimed = tx.jobs.claim(job.id, "w", 15)
        assert claimed is not None
        model = tx.models.add(
            name=name, job_id=job.id, feature_names=["a"], best_iteration=1, sha256=SHA256, size_bytes=1
        )
        system = System(model.reference, model.id)
        dataset_id = job.spec["dataset_id"]
        tx.evaluations.add(
            job_id=job.id,
            system=system,
            dataset_id=dataset_id,
            summaries={},
            contract={},
            baselines=[],
            slices=[],
        )
        tx.rankings.add(job_id=job.id, system=system, dataset_id=dataset_id, queries=1, documents=1)
        tx.jobs.succeed(job.id, claimed.token, {"model_id": model.id})
    return model


def enqueue(store: Store, dataset_id: str, model_name: str = "web", **labels: Any) -> Job:
    """Queue a training."""
    with store.begin() as tx:
        return tx.enqueue(training(dataset_id, model_name), None, Labels(**labels))


def test_a_job_takes_the_project_of_its_dataset(store: Store) -> None:
    """The model, evaluation and ranking of the job belong to the project as well."""
    job = enqueue(store, ready(store, "search"))
    model = finish(store, job)
    with store.read() as tx:
        results: list[Any] = [*tx.evaluations.of_job(job.id), *tx.rankings.of_job(job.id)]
        assert {row.project for row in (tx.jobs.get(job.id), tx.models.get(model.id), *results)} == {"search"}
        assert len(results) == 2


def test_a_given_project_has_priority_over_that_of_the_dataset(store: Store) -> None:
    """A given project applies if the model name has no version yet."""
    assert enqueue(store, ready(store, "search"), project="ads").project == "ads"


def test_a_training_takes_the_project_of_its_model_name(store: Store) -> None:
    """The dataset's project does not matter; another project is refused, with a solution."""
    finish(store, enqueue(store, ready(store, None), project="search"))
    other = ready(store, "ads")
    assert enqueue(store, other).project == "search"
    with pytest.raises(InvalidInput, match="/project: the models web belong to the project search"):
        enqueue(store, other, project="ads")


@pytest.mark.both_stores
def test_a_name_is_reserved_by_its_first_training(store: Store) -> None:
    """The reservation ends with a training that makes no model; the next training may have the name."""
    first = enqueue(store, ready(store, "search"))
    with pytest.raises(InvalidInput, match="belong to the project search"):
        enqueue(store, ready(store, "ads"), project="ads")
    with store.begin() as tx:
        tx.jobs.request_cancel(first.id)
    second = enqueue(store, ready(store, "ads"), project="ads")
    assert finish(store, second).project == "ads"


def test_a_limited_context_cannot_take_a_name_of_others(store: Store) -> None:
    """The error does not name the other project."""
    finish(store, enqueue(store, ready(store, "search")))
    dataset_id = ready(store, "ads")
    with limited_to(("ads",)), pytest.raises(InvalidInput) as refused:
        enqueue(store, dataset_id)
    assert [problem.pointer for problem in refused.value.problems] == ["/model_name"]
    assert "search" not in str(refused.value)


def test_new_rows_go_to_the_only_project_of_a_limited_context(store: Store) -> None:
    """With several projects, rows go to the one that is named; never to another one, nor to none."""
    with limited_to(("ads",)):
        assert ready_project(store, None) == "ads"
    with limited_to(("ads", "search")):
        assert ready_project(store, "search") == "search"
        for project in (None, "web"):
            with pytest.raises(InvalidInput, match="use one of ads, search"):
                ready_project(store, project)


def ready_project(store: Store, project: str | None) -> str | None:
    """Record a dataset; return the project that it went to."""
    dataset_id = ready(store, project)
    with store.read() as tx:
        return tx.datasets.get(dataset_id).project


def test_a_row_cannot_be_written_into_another_project(store: Store) -> None:
    """The flush refuses another project, whatever code sets it."""
    dataset_id = ready(store, "ads")
    with (
        limited_to(("ads",)),
        pytest.raises(InvalidInput, match="must be a project of the API key"),
        store.begin() as tx,
    ):
        tx.datasets.get(dataset_id).project = "search"
    with store.read() as tx:
        assert tx.datasets.get(dataset_id).project == "ads"


@pytest.mark.both_stores
def test_a_limited_context_finds_only_rows_of_its_projects(store: Store) -> None:
    """The limit applies by id, in lists, counts and searches; alternating limits do not mix."""
    jobs = {name: enqueue(store, ready(store, name), name) for name in ("ads", "search")}
    for name, job in jobs.items():
        finish(store, job, name)
        with store.begin() as tx:
            tx.aliases.move(name, "champion", 1)
            tx.aliases.set_gate(name, "champion", dataset_id=job.spec["dataset_id"], rule={})
    for mine, other in (("ads", "search"), ("search", "ads")) * 2:
        with limited_to((mine,)), store.read() as tx:
            assert [job.id for job in tx.jobs.page(None, 10).items] == [jobs[mine].id]
            assert tx.statistics.object_counts()["models"] == tx.statistics.object_counts()["datasets"] == 1
            assert {hit.project for hit in tx.search.find("a", 10)} <= {mine}
            assert tx.models.resolve(f"{mine}@champion").name == mine
            assert [row.name for row in tx.aliases.across_names("champion", 9)] == [mine]
            assert tx.aliases.find_gate(mine, "champion") is not None
            assert tx.aliases.find_gate(other, "champion") is None
            assert list(tx.projects.counts()) == [mine]
            for reference in (other, f"{other}:1", f"{other}@champion"):
                with pytest.raises(NotFound):
                    tx.models.resolve(reference)
            with pytest.raises(NotFound):
                tx.jobs.get(jobs[other].id)
            with pytest.raises(NotFound):
                tx.aliases.history(other, "champion", None, 10)
    assert visible_projects() is None


def test_writes_of_a_limited_context_find_no_foreign_rows(store: Store) -> None:
    """Each write looks up its row first, and does not find a row of another project."""
    job = enqueue(store, ready(store, "search"))
    model = finish(store, enqueue(store, ready(store, "search")))
    attempts: list[Callable[[Any], Any]] = [
        lambda tx: tx.jobs.request_cancel(job.id),
        lambda tx: tx.jobs.label(job.id, {"name": "mine"}, {}),
        lambda tx: tx.models.describe(model.id, title="mine"),
        lambda tx: tx.models.tag(model.id, {"a": "b"}),
        lambda tx: tx.aliases.move("web", "champion", 1),
        lambda tx: tx.aliases.set_gate("ads", "champion", dataset_id=job.spec["dataset_id"], rule={}),
        lambda tx: tx.studies.cancel("std_none"),
    ]
    for attempt in attempts:
        with limited_to(("ads",)), pytest.raises(NotFound), store.begin() as tx:
            attempt(tx)


def test_narrowing_never_widens_a_limited_context(store: Store) -> None:
    """A project outside the context selects no rows, not all rows."""
    ready(store, "search")
    with limited_to(("ads",)), narrowed_to("search"), store.read() as tx:
        assert tx.datasets.page(None, 10).items == []
    with narrowed_to("search"), store.read() as tx:
        assert len(tx.datasets.page(None, 10).items) == 1
    with narrowed_to(None), store.read() as tx:
        assert len(tx.datasets.page(None, 10).items) == 1
    without_project = ready(store, None)
    with narrowed_to(NO_PROJECT), store.read() as tx:
        assert [row.id for row in tx.datasets.page(None, 10).items] == [without_project]
    with limited_to(("search",)), narrowed_to(NO_PROJECT), store.read() as tx:
        assert tx.datasets.page(None, 10).items == []
    with limited_to(("search",)), store.read() as tx:
        assert tx.datasets.page(None, 10, project=NO_PROJECT).items == []


def test_results_move_with_their_job(store: Store) -> None:
    """Results move with the job; a model moves only together with all versions of its name."""
    job = enqueue(store, ready(store, None))
    model, second = finish(store, job), finish(store, enqueue(store, ready(store, None)))
    with store.begin() as tx:
        tx.jobs.label(job.id, {"project": "ads"}, {})
    with store.read() as tx:
        results: list[Any] = [*tx.evaluations.of_job(job.id), *tx.rankings.of_job(job.id)]
        assert {row.project for row in results} == {"ads"}
        assert tx.models.get(model.id).project is None
    with store.begin() as tx:
        tx.projects.move_name("web", "ads")
    with store.read() as tx:
        assert {tx.models.get(each.id).project for each in (model, second)} == {"ads"}
    assert finish(store, enqueue(store, ready(store, None))).project == "ads"


def test_a_dataset_moves_with_the_job_that_reads_it(store: Store, ingest: tuple[Any, Job]) -> None:
    """The dataset and the job move together, whichever of them is moved."""
    dataset, job = ingest
    with store.begin() as tx:
        tx.projects.move_data(tx.datasets.get(dataset.id), "ads")
    with store.begin() as tx:
        assert tx.jobs.get(job.id).project == "ads"
        tx.jobs.label(job.id, {"project": "search"}, {})
    with store.read() as tx:
        assert tx.datasets.get(dataset.id).project == "search"


def test_a_job_that_cannot_move_keeps_its_tags(store: Store) -> None:
    """A refused change of project and tags changes neither."""
    with store.begin() as tx:
        job = tx.jobs.add("train", {}, labels=Labels(project="ads"))
    changes = LabelChanges({"team": "a"}, moves=True, project="search")
    with limited_to(("ads",)):
        labelling = label_objects(store, KINDS["job"], [job.id], changes, dry_run=False)
    assert (labelling.changed, labelling.refused_count) == (0, 1)
    with store.read() as tx:
        assert (tx.jobs.get(job.id).project, tx.jobs.get(job.id).tags) == ("ads", None)


def test_a_name_whose_versions_were_refused_does_not_move(store: Store) -> None:
    """Neither the preview nor the change reports its name as moved."""
    model = finish(store, enqueue(store, ready(store, "ads")))
    with store.begin() as tx:
        tx.models.tag(model.id, {f"t{number}": "" for number in range(MAX_TAGS)})
    changes = LabelChanges({"team": "a"}, moves=True, project="search")
    for dry_run in (True, False):
        labelling = label_objects(store, KINDS["model"], [model.id], changes, dry_run=dry_run)
        assert (labelling.refused_count, labelling.moved_names) == (1, set())
    with store.read() as tx:
        assert tx.models.get(model.id).project == "ads"


@pytest.mark.both_stores
def test_a_job_is_labelled_and_listed_by_its_labels(store: Store) -> None:
    """Name, notes and single tags are set and removed; jobs are listed by tag and by project."""
    job = enqueue(
        store, ready(store, None), name="few leaves", notes="as of May", tags={"team": "a", "x": "1"}
    )
    with store.begin() as tx:
        assert (job.title, job.notes, job.tags) == ("few leaves", "as of May", {"team": "a", "x": "1"})
        labelled = tx.jobs.label(job.id, {"name": None, "notes": None}, {"x": None, "y": "2"})
        assert (labelled.title, labelled.notes, labelled.tags) == ("web", None, {"team": "a", "y": "2"})
    enqueue(store, ready(store, "ads"), "other")
    with store.read() as tx:
        for wanted, number in (([("team", None)], 1), ([("team", "a"), ("y", "2")], 1), ([("x", None)], 0)):
            assert len(tx.jobs.page(None, 10, tags=wanted).items) == number
        assert [each.project for each in tx.jobs.page(None, 10, project="ads").items] == ["ads"]


def test_the_quota_counts_jobs_that_were_moved_away(store: Store) -> None:
    """A bound key gains nothing by jobs that were moved out of its projects."""
    with store.begin() as tx:
        key, _ = tx.api_keys.create("bound", ["write"], projects=["ads"], max_active_jobs=1)
        tx.jobs.add("train", {}, key_id=key.id, labels=Labels(project="search"))
    with limited_to(("ads",)), pytest.raises(JobQuotaExceeded), store.begin() as tx:
        tx.quotas.allow_jobs(key.id, 100)


@pytest.mark.parametrize(
    ("scopes", "names", "pointer"),
    [
        (["admin"], ["ads"], "/scopes"),
        (["read"], [], "/projects"),
        (["read"], ["ads", "No Name"], "/projects/1"),
    ],
)
def test_invalid_bindings_are_refused(
    store: Store, scopes: list[str], names: list[str], pointer: str
) -> None:
    """Keys of administrators, an empty list, and texts that are no names of projects are refused."""
    with pytest.raises(InvalidInput) as refused, store.begin() as tx:
        tx.api_keys.create("bad", scopes, projects=names)
    assert [problem.pointer for problem in refused.value.problems] == [pointer]


@pytest.mark.both_stores
def test_a_queued_job_with_nul_does_not_affect_others(store: Store) -> None:
    """PostgreSQL cannot read fields of such a specification; the model names of other jobs stay reserved."""
    with store.begin() as tx:
        tx.jobs.add("train", {"model_name": "a", "features": {"leave_out": ["\0"]}})
        tx.projects.claim_name("web", "ads")
        tx.jobs.add("train", {"model_name": "web"})
    with store.begin() as tx, pytest.raises(InvalidInput, match="web belong to the project ads"):
        tx.projects.claim_name("web", "shop")
    with store.begin() as tx:
        tx.projects.claim_name("we", "ads")
        assert tx.projects.claim_name("we", "shop") == "shop"
