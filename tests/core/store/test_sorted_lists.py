"""Lists sorted by their columns, a page at a time."""

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import pytest
from sqlalchemy import event

from core.errors import InvalidInput
from core.jobs import System
from core.store import Store, Transaction
from core.store.lifecycle.deletion import Actor, DeletionMode, delete_objects
from core.store.repositories.datasets import Datasets
from core.store.repositories.jobs import Jobs
from core.store.repositories.models import Models
from core.store.repositories.pages import Page
from core.store.repositories.results import Comparisons, Evaluations, Rankings
from core.store.trash.kinds import KINDS
from core.store.visibility import limited_to
from tests.purging import purge

GetPage = Callable[[Transaction, str | None, int], Page[Any]]


@pytest.fixture
def filled(store: Store) -> Store:
    """A store with five records of each kind, some of which lack a value or share one."""
    with store.begin() as tx:
        for number, size in enumerate((30, None, 10, 30, 20)):
            name = "bAcDb"[number]
            dataset = tx.datasets.add(name, {}, size_bytes=size)
            if size is not None:
                tx.datasets.mark_ready(dataset.id, statistics={"queries": size})
            job = tx.jobs.add("train", {"model_name": name.lower()})
            model = tx.models.add(
                name=name.lower(),
                job_id=job.id,
                feature_names=["f"],
                best_iteration=number,
                sha256=f"{number:064}",
                size_bytes=7,
                dataset_id=dataset.id,
                metrics=None if size is None else {"ndcg@10": size / 100},
            )
            system = System(model.reference, model.id)
            tx.evaluations.add(
                job_id=job.id,
                system=system,
                dataset_id=dataset.id,
                summaries={} if size is None else {"ndcg@10": {"mean": size / 100}},
                contract={},
                baselines=[],
                slices=[],
            )
            tx.rankings.add(
                job_id=job.id, system=system, dataset_id=dataset.id, queries=number, documents=5 - number
            )
            tx.comparisons.add(
                job_id=job.id,
                dataset_id=dataset.id,
                sentence="",
                systems=[{"name": f'{name}"x'}, {"name": "z"}],
                metrics=[],
                contract={},
                permutations=1,
                seed=0,
                pairs=[],
            )
    return store


def _walk(store: Store, get_page: GetPage, limit: int) -> list[str]:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        with store.read() as tx:
            page = get_page(tx, cursor, limit)
        seen += [row.id for row in page.items]
        if page.next_cursor is None:
            return seen
        cursor = page.next_cursor


@pytest.mark.long
@pytest.mark.parametrize(
    ("repository", "columns"),
    [
        ("jobs", Jobs.columns),
        ("datasets", Datasets.columns),
        ("models", (*Models.columns, "metric")),
        ("evaluations", (*Evaluations.columns, "metric")),
        ("rankings", Rankings.columns),
        ("comparisons", Comparisons.columns),
    ],
)
def test_pages_of_every_sort_order_list_each_row_once(
    filled: Store, repository: str, columns: Iterable[str]
) -> None:
    """Whatever the column, direction and limit, a walk gives each row once, in the order of one page."""
    for column, direction in product(columns, ("asc", "desc", None)):
        by: dict[str, Any] = {"sort": column, "direction": direction}
        if column == "metric" and repository != "jobs":
            by["metric"] = "ndcg@10"

        def get_page(tx: Transaction, cursor: str | None, limit: int, by: dict[str, Any] = by) -> Page[Any]:
            page: Page[Any] = getattr(tx, repository).page(cursor, limit, **by)
            return page

        whole = _walk(filled, get_page, 100)
        assert len(set(whole)) == 5, by
        for limit in (1, 5):
            assert _walk(filled, get_page, limit) == whole, (by, limit)


@pytest.mark.parametrize(
    ("sort", "direction", "expected"),
    [
        ("name", None, "AbbcD"),
        ("name", "desc", "DcbbA"),
        ("size", None, [30, 30, 20, 10, None]),
        ("size", "asc", [10, 20, 30, 30, None]),
        ("queries", "asc", [10, 20, 30, 30, None]),
    ],
)
@pytest.mark.both_stores
def test_texts_ascend_and_numbers_descend_by_default(
    filled: Store, sort: str, direction: Any, expected: Any
) -> None:
    """Texts ascend whatever their case, numbers descend; rows without a value are last in both directions."""
    with filled.read() as tx:
        rows = tx.datasets.page(None, 10, sort=sort, direction=direction).items
    found = [row.name for row in rows] if sort == "name" else [row.size_bytes for row in rows]
    assert found == list(expected)


@pytest.mark.both_stores
def test_models_are_sorted_by_a_named_metric(filled: Store) -> None:
    """The sort needs the name of the metric, since models have several."""
    with filled.read() as tx:
        rows = tx.models.page(None, 10, sort="metric", metric="ndcg@10").items
        assert [(row.metrics or {}).get("ndcg@10") for row in rows] == [0.3, 0.3, 0.2, 0.1, None]
        measured = tx.evaluations.page(None, 10, sort="metric", metric="ndcg@10", direction="asc").items
        assert [row.summaries.get("ndcg@10", {}).get("mean") for row in measured] == [
            0.1,
            0.2,
            0.3,
            0.3,
            None,
        ]


def test_the_latest_filter_keeps_one_version_per_name(filled: Store) -> None:
    """The list has one version of each name, whatever it is sorted by."""
    with filled.read() as tx:
        rows = tx.models.page(None, 10, latest=True, sort="name").items
    assert [row.reference for row in rows] == ["a:1", "b:2", "c:1", "d:1"]


@pytest.mark.both_stores
def test_rows_are_found_by_the_beginning_of_a_name_or_id(filled: Store) -> None:
    """Case does not matter, and the wildcards of SQL are ordinary characters."""
    with filled.read() as tx:
        assert [row.name for row in tx.datasets.page(None, 9, prefix="B").items] == ["b", "b"]
        assert [row.reference for row in tx.models.page(None, 9, prefix="B:2").items] == ["b:2"]
        assert [row.system for row in tx.evaluations.page(None, 9, prefix="A").items] == ["a:1"]
        assert [row.system for row in tx.rankings.page(None, 9, prefix="d:").items] == ["d:1"]
        assert [row.title for row in tx.jobs.page(None, 9, prefix="C").items] == ["c"]
        (compared,) = tx.comparisons.page(None, 9, prefix='c"').items
        assert compared.systems[0]["name"] == 'c"x'
        for repository in (tx.datasets, tx.models, tx.evaluations, tx.rankings, tx.jobs, tx.comparisons):
            ids = [row.id for row in repository.page(None, 9).items]
            assert [row.id for row in repository.page(None, 9, prefix=ids[2]).items] == [ids[2]]
            assert repository.page(None, 9, prefix="%").items == []


@pytest.mark.both_stores
def test_case_of_letters_beyond_ascii_does_not_matter(store: Store) -> None:
    """Names in other alphabets are found and sorted as those in English."""
    with store.begin() as tx:
        for name in ("Überblick", "über uns", "Россия", "россия 2"):
            tx.datasets.add(name, {})
    with store.read() as tx:
        for prefix in ("über", "ÜBER"):
            found = tx.datasets.page(None, 9, prefix=prefix, sort="name").items
            assert [row.name for row in found] == ["über uns", "Überblick"]
        assert len(tx.datasets.page(None, 9, prefix="росс").items) == 2
        assert {hit.name for hit in tx.search.find("ОССИ", 5)} == {"Россия", "россия 2"}


def test_a_sorted_walk_continues_while_its_rows_are_deleted(filled: Store) -> None:
    """Moving each row to the trash after its page neither ends a sorted walk nor skips a row."""
    with filled.read() as tx:
        wanted = [row.id for row in tx.datasets.page(None, 9, sort="size").items]
    walked: list[str] = []
    cursor: str | None = None
    while cursor is not None or not walked:
        with filled.begin() as tx:
            page = tx.datasets.page(cursor, 1, sort="size")
            walked += [row.id for row in page.items]
            cursor = page.next_cursor
        delete_objects(filled, KINDS["dataset"], walked[-1:], DeletionMode(trash_days=1), Actor())
    assert walked == wanted


def test_a_sorted_walk_from_a_removed_row_is_refused(filled: Store) -> None:
    """The cursor is refused, because the position of the removed row is unknown."""
    with filled.begin() as tx:
        cursor = tx.datasets.page(None, 1, sort="size").next_cursor
        assert cursor is not None
        purge(tx, "dataset", cursor)
        with pytest.raises(InvalidInput) as raised:
            tx.datasets.page(cursor, 1, sort="size")
    assert raised.value.problems[0].pointer == "/cursor"


@pytest.mark.embedded
@pytest.mark.parametrize("projects", [None, ("shop",)])
def test_a_page_of_the_newest_rows_is_read_from_an_index(
    filled: Store, projects: tuple[str, ...] | None
) -> None:
    """No list sorts all rows to return some, nor those of the only project that the caller may read."""
    statements: list[tuple[str, Any]] = []

    def record(*arguments: Any) -> None:
        statements.append(arguments[2:4])

    with filled.read() as tx, limited_to(projects):
        connection = tx._session.connection()
        event.listen(connection, "before_cursor_execute", record)
        for name in ("jobs", "datasets", "models", "evaluations", "rankings", "comparisons", "studies"):
            getattr(tx, name).page(cursor=None, limit=2)
        event.remove(connection, "before_cursor_execute", record)
        assert len(statements) >= 7
        for statement, parameters in statements:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            steps = [row.detail for row in plan]
            assert not any("B-TREE" in step for step in steps), (statement, steps)
