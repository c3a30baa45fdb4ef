"""Pages of datasets and of results in light and dark, in desktop and phone widths."""

import pytest

from tests.browser.appearance import check_pages
from tests.browser.judged_files import broken_text, letor_text, table_text
from tests.browser.prepared import Prepared
from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

PARTS_TO_SEE = {
    "dataset-features": ["tbody tr:visible"],
    "dataset-queries": ["tbody tr:visible"],
    "dataset-query": ["tbody tr:visible"],
    "model": ["#dependence .plot .drawing", ".tree .leaf"],
    "experiment": [".plot .drawing"],
    "comparison": [".two-rankings"],
    "comparison-of-three": [".two-rankings"],
    "model-exports": ["#exports form"],
    "model-try": ["#try .candidates tbody tr"],
    "ranking": [".ranked tbody tr"],
}


@pytest.fixture
def dataset_pages(prepared: Prepared) -> dict[str, str]:
    """Create datasets of text, of a table and of a broken file, and return their pages by name."""
    text = f"/datasets/{prepared.uploaded('looks.txt', letor_text().encode())}"
    table = f"/datasets/{prepared.uploaded('looks.csv', table_text().encode())}"
    return {
        "dataset": text,
        "dataset-columns": table,
        "dataset-features": f"{text}#features",
        "dataset-queries": f"{table}#queries",
        "dataset-query": f"{table}/queries/q1",
        "dataset-invalid": f"/datasets/{prepared.broken('a.txt', broken_text(9).encode())}",
    }


@pytest.fixture
def result_pages(prepared: Prepared) -> dict[str, str]:
    """Create a result of each kind; return the pages of the results and of a model by name."""
    systems = [{"model": prepared.model(1)}, {"model": prepared.model(2)}]
    metrics = ["ndcg@10", "arp"]
    evaluation = prepared.evaluation(
        "diagnosed",
        **systems[1],
        metrics=[*metrics, "map"],
        diagnostics={"loss": {"name": "lambdarank"}, "cutoff": 5},
    )
    of_two = prepared.comparison("of two", systems=systems, metrics=metrics)
    experiment = prepared.experiment()
    three = [{"ranking_id": prepared.run()}, *systems]
    prepared.inspection(prepared.model(2))
    of_three = prepared.comparison("of three", systems=three, metrics=metrics)
    return {
        "evaluation": f"/evaluations/{evaluation}",
        "experiment": f"/experiments/{experiment}",
        "comparison": f"/comparisons/{of_two}#query=q5",
        "model": "/models/compared:2#by=permutation&tree=2",
        "model-about": "/models/compared:2",
        "model-aliases": "/models/compared:2#view=aliases",
        "model-exports": "/models/compared:2#view=exports&format=solr",
        "model-try": "/models/compared:2#view=try",
        "ranking": f"/rankings/{prepared.run()}#query=q5",
        "comparison-of-three": f"/comparisons/{of_three}#pair=0-2&query=q5",
    }


def test_dataset_and_result_pages_are_accessible_in_each_look(
    visit: Visit, result_pages: dict[str, str], dataset_pages: dict[str, str]
) -> None:
    """Pages follow the preferred colour scheme, do not scroll sideways, and pass axe-core."""
    check_pages(visit, dataset_pages | result_pages, PARTS_TO_SEE)
