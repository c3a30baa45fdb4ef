"""Reports: measured and printed numbers, their differences, marks, and three formats."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from core.experiments import Plan, Report, Run, RunResult, plan, report
from core.experiments.render import latex

BASE = np.random.default_rng(1).uniform(0.3, 0.7, 300)


def result(run: Run, shift: float = 0.0) -> RunResult:
    """Return made-up results of a run."""
    curve = list(np.linspace(0.3, 0.5, 20))
    noise = np.random.default_rng(int(run.digest[:8], 16)).normal(0.0, 0.01, len(BASE))
    values = dict.fromkeys(run.spec["metrics"], BASE + shift + noise)
    return RunResult(
        per_query={"train": values, "validation": values, "test": values},
        curves={
            "validation": dict.fromkeys(run.spec["metrics"], curve),
            "diagnostics": {"strictly-incoherent-queries": curve},
        },
        iterations=range(1, 21),
        milliseconds={"objective": [2.0] * 20, "tree": [3.0] * 20},
        best_iteration=20,
    )


@pytest.fixture(scope="module")
def planned() -> Plan:
    """A plan of two tables."""
    return plan("lambda-ex-2023", ["table-5", "table-6"])


@pytest.fixture(scope="module")
def found(planned: Plan) -> Report:
    """The report in which Lambda-eX is two points better."""

    def shift(run: Run) -> float:
        return 0.02 if "pair_selection" in run.spec["loss"] else 0.0

    results = {digest: result(run, shift(run)) for digest, run in planned.runs.items()}
    return report(planned, results, permutations=1_000)


def test_a_candidate_is_selected_by_the_kept_iterations_of_all_folds() -> None:
    """A fold that stops early cuts the mean curve, which must not hide better iterations of other folds."""
    planned = plan("ranking-measures-2009", ["table-1"])
    cell = next(cell for cell in planned.cells if len(cell.runs) > 1)
    _, slow = cell.runs
    results = {digest: result(run) for digest, run in planned.runs.items()}
    results[slow] = replace(result(planned.runs[slow], 0.1), curves={"validation": {cell.selection: [0.2]}})
    reported = report(planned, results, permutations=100)
    assert reported.tables[0].cells[cell.row, cell.column].run == slow


def test_a_candidate_without_a_validation_value_is_not_selected() -> None:
    """The metric is undefined on every validation query of the first candidate."""
    planned = plan("ranking-measures-2009", ["table-1"])
    cell = next(cell for cell in planned.cells if len(cell.runs) > 1)
    first, second = cell.runs
    results = {digest: result(run) for digest, run in planned.runs.items()}
    undefined = {cell.selection: np.full(len(BASE), np.nan)}
    results[first] = replace(results[first], per_query={**results[first].per_query, "validation": undefined})
    reported = report(planned, results, permutations=100)
    assert reported.tables[0].cells[cell.row, cell.column].run == second


def test_a_difference_is_of_the_same_data(found: Report, planned: Plan) -> None:
    """Numbers of synthetic data are shown beside printed ones, without a difference."""
    cell_key = ("LambdaMART-eX random", "NDCG@5")
    cell = found.tables[0].cells[cell_key]
    assert cell.printed is not None
    assert cell.difference is None
    assert "| difference |" not in found.to_markdown()
    same = plan("lambda-ex-2023", ["table-5"], data="folder", corpus=planned.paper.corpora[0])
    reported = report(same, {digest: result(run, 0.0) for digest, run in same.runs.items()}, permutations=100)
    cell = reported.tables[0].cells[cell_key]
    assert cell.ours is not None
    assert cell.printed is not None
    assert cell.difference == pytest.approx(cell.ours - cell.printed.value)
    assert "| printed | difference |" in reported.to_markdown()


def test_a_number_is_shown_beside_the_printed_one(found: Report) -> None:
    """Both numbers are in the table's unit, with the mark of the paper's test."""
    cell = found.tables[0].cells["LambdaMART-eX random", "NDCG@5"]
    assert cell.ours == pytest.approx(100.0 * BASE.mean() + 2.0, abs=0.3)
    assert cell.lower is not None
    assert cell.upper is not None
    assert cell.ours is not None
    assert cell.lower < cell.ours < cell.upper
    assert cell.printed is not None
    assert (cell.printed.value, cell.printed.mark) == (75.17, "**")
    assert cell.mark == "**"
    assert cell.p is not None
    assert cell.p < 0.01


def test_an_interval_ends_at_the_bounds_of_its_metric(planned: Plan) -> None:
    """Student's interval of nine perfect queries and one poor query would exceed 100%."""
    few = np.array([*9 * [1.0], 0.6])
    results = {digest: replace(result(run), per_query={}) for digest, run in planned.runs.items()}
    for digest, run in planned.runs.items():
        metrics = dict.fromkeys(run.spec["metrics"], few)
        results[digest] = replace(results[digest], per_query=dict.fromkeys(run.parts, metrics))
    cells = report(planned, results, permutations=100).tables[0].cells.values()
    uppers = {cell.upper for cell in cells if cell.upper is not None}
    assert len(uppers) == 1
    assert 96.0 < max(uppers) <= 100.0


def test_only_improvements_on_the_reference_have_a_mark(found: Report) -> None:
    """The reference has no p-value, and only improvements are marked, as in the paper."""
    cells = found.tables[0].cells
    assert cells["LambdaMART τ=k+3", "NDCG@5"].p is None
    assert cells["LambdaMART τ=k", "NDCG@5"].mark == ""


def test_times_are_medians_of_an_iteration(found: Report) -> None:
    """A whole tree includes its objective."""
    cells = found.tables[1].cells
    assert cells["LambdaMART τ=k", "objective"].ours == 2.0
    assert cells["LambdaMART τ=k", "tree"].ours == 5.0


def test_deviations_are_listed_beside_the_number(found: Report) -> None:
    """A number of LambdaLoss of 2023 refers to the shifted δ, one of LambdaMART does not."""
    table = found.tables[0]
    (cell_key,) = (i for i, text in enumerate(table.deviations, start=1) if "off by one" in text)
    assert cell_key in table.cells["LambdaLoss τ=k", "NDCG@5"].deviations
    assert cell_key not in table.cells["LambdaMART τ=k", "NDCG@5"].deviations


def test_drawn_data_is_not_called_a_corpus(found: Report) -> None:
    """Printed numbers are comparable for the paper's data, and for orientation only beside other data."""
    assert "orientation only" in (found.orientation or "")
    recognised = plan("lambda-ex-2023", ["table-5"], "paper", "folder", "Yahoo set 1")
    of_corpus = report(recognised, {})
    assert of_corpus.orientation is None
    printed = of_corpus.tables[0].cells["LambdaMART τ=k", "NDCG@5"].printed
    assert printed is not None
    assert printed.value == 75.35


def test_a_report_can_be_partial(planned: Plan) -> None:
    """Missing numbers have a reason, and no claim is judged by them."""
    one = next(iter(planned.runs))
    failed = {digest: RunResult(failure="out of memory") for digest in planned.runs if digest != one}
    partial = report(planned, {one: result(planned.runs[one]), **failed}, permutations=1_000)
    assert partial.trained == 1
    cells = partial.tables[0].cells
    assert cells["LambdaMART τ=k", "NDCG@5"].ours is not None
    assert cells["LambdaMART τ=∞", "NDCG@5"].missing == "out of memory"
    assert {judgement.verdict for judgement in partial.tables[0].claims} == {"not-shown"}


def test_formats_agree(found: Report) -> None:
    """The first number of JSON is in CSV, Markdown and LaTeX, and its verdicts are in the last two."""
    to_json = json.loads(json.dumps(found.to_dict()))
    cell = to_json["tables"][0]["cells"][0]
    lines = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert len(lines) == sum(len(table["cells"]) for table in to_json["tables"])
    assert float(lines[0]["ours"]) == cell["ours"]
    for text in (found.to_markdown(), found.to_latex()):
        assert f"{cell['ours']:.2f}" in text
        assert "off by one" in text
        assert all(f"{judgement['verdict']}" in text for judgement in to_json["tables"][0]["claims"])


def test_greek_letters_become_commands_in_latex(found: Report) -> None:
    """The τ in the names of rows becomes a command; names of columns are unchanged."""
    text = found.to_latex()
    assert "τ" not in text
    assert r"$\tau$" in text
    assert "NDCG@5 &" in text


def test_special_characters_of_latex_are_escaped() -> None:
    """A `%` would begin a comment, and `&` another column."""
    assert latex("f_1 & 5% #2") == r"f\_1 \& 5\% \#2"
    assert latex("p < 0.0001") == "p $<$ 0.0001"
