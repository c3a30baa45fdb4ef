"""Experiments of papers, on real servers."""

from collections import Counter

import pytest

from rankery.client import Client, Experiment
from tests.integration.waiting import LIMIT_SECONDS

TABLES = ["table-5", "figure-5"]


@pytest.mark.slow
def test_an_experiment_ends_with_a_report_and_a_second_one_trains_nothing(
    client: Client, datasets: dict[str, str]
) -> None:
    """Tables share their trainings; a second experiment on the same content trains and evaluates nothing."""

    def run() -> Experiment:
        experiment = client.run_experiment("lambdaloss-2018", TABLES, dataset_ids=datasets)
        return experiment.wait(timeout_seconds=LIMIT_SECONDS)

    first = run()
    assert (first.counts.succeeded, first.counts.shared) == (5, 0)
    assert first.report is not None
    assert first.report["complete"]
    numbers = [cell["ours"] for table in first.report["tables"] for cell in table["cells"]]
    assert all(number is not None for number in numbers)
    assert all(claim["verdict"] for table in first.report["tables"] for claim in table["claims"])
    assert any(note.startswith("Printed numbers are for") for note in first.report["notes"])
    assert "orientation only" in first.report["notes"][-1]  # the data is no corpus of the paper
    assert first.download_report("markdown").startswith("# ")
    assert first.download_report("csv").startswith("table,row,column")
    assert r"\toprule" in first.download_report("latex")
    before = Counter(job.kind for job in client.jobs())
    again = run()
    added = Counter(job.kind for job in client.jobs()) - before
    assert set(added) == {"report"}
    assert again.counts.shared == 5
    assert again.report == first.report
    assert {each.job_id for each in again.trainings()} == {each.job_id for each in first.trainings()}
    # Shared trainings stay for the other experiment; then they can be deleted, and the report is kept.
    trained = {"tag": [f"grid:{first.id}"]}
    assert first.delete().deleted == {"experiments": 1}
    refused = client.delete("jobs", where=trained, with_results=True)
    assert {holder.id for job in refused.refused for holder in job.holders} == {again.id}
    assert again.delete(permanently=True).purge_at is None
    assert client.delete("jobs", where=trained, with_results=True, dry_run=False).deleted["jobs"] == 5
    client.restore(first)
    assert client.experiment(first.id).report == first.report
