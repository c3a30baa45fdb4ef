"""The papers' printed numbers, and the requests that their plans make."""

import csv
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from app.datasets.synthetic import SyntheticDatasetRequest
from app.jobs.requests.training import TrainRequest
from core.experiments import PAPERS, papers, plan

TRANSCRIBED = Path(__file__).with_name("printed.csv")


def test_printed_numbers_are_those_of_the_papers() -> None:
    """Every printed number and mark equals a second transcription of the papers, and none is left out."""
    with TRANSCRIBED.open(encoding="utf-8") as file:
        transcribed = {
            (line["paper"], line["table"], line["corpus"], line["row"], line["column"]): (
                float(line["value"]),
                line["mark"],
            )
            for line in csv.DictReader(file)
        }
    printed = {
        (paper.name, table.name, corpus, row, column): (number.value, number.mark)
        for paper in papers()
        for table in paper.tables
        for corpus, rows in table.printed.items()
        for row, columns in rows.items()
        for column, number in columns.items()
    }
    assert printed == transcribed


def test_papers_are_in_order_of_their_years() -> None:
    """All five papers are listed."""
    assert [paper.year for paper in papers()] == [2006, 2009, 2018, 2019, 2023]


@pytest.mark.parametrize("scale", ["quick", "paper"])
@pytest.mark.parametrize("name", PAPERS)
def test_the_service_accepts_the_requests(name: str, scale: Any) -> None:
    """Requests for synthetic data and for trainings have the form that the API takes."""
    planned = plan(name, scale=scale)
    for request in planned.synthetic.values():
        SyntheticDatasetRequest.model_validate(dict(request))
    requests: TypeAdapter[TrainRequest] = TypeAdapter(TrainRequest)
    for run in planned.runs.values():
        requests.validate_python({**run.spec, "model_name": "paper", "dataset_id": "ds_0123456789abcdef"})


def test_quick_plans_are_small() -> None:
    """All five papers together grow at most 13,000 trees, and train networks for at most 2,000 epochs."""
    plans = [plan(paper) for paper in papers()]
    assert sum(each.trees for each in plans) <= 13_000
    assert sum(each.epochs for each in plans) <= 2_000
