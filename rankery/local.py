"""Local computations of the command line, using core."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankery.companion_files import query_sizes_beside
from rankery.errors import FileUnreadable, FileUnusable
from rankery.server_package import require_server_package

if TYPE_CHECKING:
    from core.errors import InputProblem


@dataclass(frozen=True)
class RunEvaluation:
    """Evaluation of runs by judgments.

    Attributes:
        contract: Metric conventions, with the name of their preset.
        only_retrieved: Whether queries without results of a run are left out, instead of counting 0.
        runs: `{"name", "queries_without_results", "unknown_queries", "retrieved_documents",
            "judged_documents", "metrics"}` of each run. `judged_documents` counts the judged documents among
            the retrieved ones, and `metrics` has a summary for each metric.
        pairs: Comparison of every pair of runs, in the form of the service's comparisons.
        sentence: Conclusion about all runs; None for a single one.
        query_ids: The queries of the judgments.
        values: By metric, a list of query values for each run, None if undefined.
    """

    contract: dict[str, Any]
    only_retrieved: bool
    runs: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    sentence: str | None
    query_ids: list[str]
    values: dict[str, list[list[float | None]]]


@contextmanager
def convert_core_errors(file_name: str | None = None) -> Iterator[None]:
    """Convert core errors about files and options to `FileUnusable`.

    Args:
        file_name: Name of the files for errors that do not name them.

    Raises:
        FileUnreadable: A file has errors.
        FileUnusable: Replaces every other error that a user can cause.
    """
    from core.errors import DatasetError, InvalidInput, RankeryError

    try:
        yield
    except InvalidInput as invalid:
        if file_name is not None:
            details = "; ".join(problem.detail for problem in invalid.problems)
            raise FileUnusable(f"{file_name}: {details}") from invalid
        raise FileUnusable("; ".join(_problem_text(problem) for problem in invalid.problems)) from invalid
    except DatasetError as error:
        errors, causes = (list(map(asdict, entries)) for entries in (error.problems, error.causes))
        raise FileUnreadable(str(error), errors, causes) from error
    except (RankeryError, OSError) as error:
        raise FileUnusable(str(error)) from error


def _problem_text(problem: "InputProblem") -> str:
    return f"{problem.pointer}: {problem.detail}" if problem.pointer else problem.detail


def evaluate_runs(
    qrels: Path,
    runs: Sequence[Path],
    metrics: Sequence[str],
    *,
    columns: Mapping[str, Any] | None = None,
    contract: str | Mapping[str, Any],
    only_retrieved: bool,
    permutations: int,
    seed: int,
) -> RunEvaluation:
    """Evaluate runs by judgments, and compare every pair.

    Args:
        qrels: Judgments: TREC qrels, or any other judged dataset whose documents have ids.
        runs: TREC runs.
        metrics: Names such as `ndcg@10`; the first one decides comparisons.
        columns: Column roles of a judged table, as in an upload.
        contract: Name of a preset, or a dictionary of a preset with changes.
        only_retrieved: Whether to leave out queries without results of a run, instead of counting 0.
        permutations: Random assignments of the randomisation test.
        seed: Seed of the resampling.

    Raises:
        FileUnusable: A file or an option cannot be used.
    """
    require_server_package()
    from core.machine import limit_threads

    limit_threads()
    from core.data.options import reading_options
    from core.data.reading import JudgedFile, read_file
    from core.data.trec import join_run, read_run
    from core.evaluation import measure, summarise_all
    from core.metrics import check_differences, conventions, metric_name, parse_metric

    with convert_core_errors():
        parsed_contract = conventions(contract)
        metrics = list(dict.fromkeys(map(metric_name, metrics)))
        parsed = {spelling: parse_metric(spelling, parsed_contract) for spelling in metrics}
        if len(runs) > 1:
            for spelling in metrics:
                check_differences(spelling)
        judged = JudgedFile(qrels, qrels.name, query_sizes_beside(qrels, columns))
        dataset = read_file(judged, reading_options({"columns": columns})).dataset
    joined = []
    for path in runs:
        with convert_core_errors(f"{path.name} with {qrels.name}"):
            joined.append(join_run(dataset, read_run(path)))
    with convert_core_errors():
        values = [
            _values(measure(run.scores, run, metrics, parsed_contract), run, only_retrieved) for run in joined
        ]
    names = _names(runs)
    directions = {spelling: metric.higher_is_better for spelling, metric in parsed.items()}
    query_ids = list(dataset.query_ids)
    sentence, pairs = None, []
    if len(runs) > 1:
        comparison = _compare(names, values, directions, permutations, seed)
        sentence, pairs = comparison.sentence, [pair.to_json(query_ids) for pair in comparison.pairs]
    return RunEvaluation(
        contract=parsed_contract.to_json(),
        only_retrieved=only_retrieved,
        runs=[
            {
                "name": name,
                "queries_without_results": run.queries_without_results,
                "unknown_queries": run.unknown_queries,
                "retrieved_documents": int(run.is_retrieved.sum()),
                "judged_documents": int((run.is_retrieved & ~run.is_unjudged).sum()),
                "metrics": {
                    spelling: {**asdict(summary), "contract": parsed[spelling].contract()}
                    for spelling, summary in summarise_all(one, seed=seed, metrics=parsed).items()
                },
            }
            for name, run, one in zip(names, joined, values, strict=True)
        ],
        pairs=pairs,
        sentence=sentence,
        query_ids=query_ids,
        values={
            spelling: [
                [None if value != value else value for value in one[spelling].tolist()] for one in values
            ]
            for spelling in metrics
        },
    )


def _values(measured: dict[str, Any], run: Any, only_retrieved: bool) -> dict[str, Any]:
    """Return the values of a run by metric; with `only_retrieved`, NaN for queries without results."""
    if not only_retrieved:
        return measured
    import numpy as np

    retrieved = np.add.reduceat(~np.isnan(run.scores), run.query_boundaries[:-1]) > 0
    return {spelling: np.where(retrieved, values, np.nan) for spelling, values in measured.items()}


def _compare(
    names: Sequence[str],
    values: list[dict[str, Any]],
    directions: dict[str, bool],
    permutations: int,
    seed: int,
) -> Any:
    import numpy as np

    from core.evaluation import compare_systems

    by_metric = {spelling: np.column_stack([one[spelling] for one in values]) for spelling in directions}
    return compare_systems(names, by_metric, directions, permutations=permutations, seed=seed)


def _names(runs: Sequence[Path]) -> list[str]:
    """Return the name of each run: its file name, or its path and number if several runs have that name."""
    file_names = [run.name for run in runs]
    return [
        run.name if file_names.count(run.name) == 1 else f"{run} ({index})"
        for index, run in enumerate(runs, start=1)
    ]
