"""Problems of failed jobs."""

import core.errors
from core.errors import DatasetError, DatasetProblem, InvalidInput, RankeryError
from worker.process.problems import TITLES, problem_of


def test_every_rankery_error_has_a_title() -> None:
    """A new error class must have a title, unless it never ends a job."""
    kinds = {
        kind
        for kind in vars(core.errors).values()
        if isinstance(kind, type) and issubclass(kind, RankeryError)
    }
    never_end_a_job: set[type] = {core.errors.LeaseLost, core.errors.JobCancelled}
    never_end_a_job |= {core.errors.KernelsNotReady}  # before a worker takes its first job
    quotas = {core.errors.JobQuotaExceeded, core.errors.JobQuotaTooSmall, core.errors.ByteQuotaExceeded}
    never_end_a_job |= quotas  # answers of the API
    never_end_a_job |= {core.errors.StillNeeded, core.errors.UploadTakenOver, core.errors.UploadQuotaExceeded}
    assert kinds - never_end_a_job == set(TITLES)


def test_a_dataset_error_names_its_place() -> None:
    """The problem has the place in its detail and in fields."""
    problem = problem_of(
        DatasetError.at("expected a number", file="a.txt", line=3, column=5, text="x"), "ingest"
    )
    assert problem["detail"] == "file a.txt, line 3, column 5: expected a number"
    assert problem["errors"] == [
        {
            "line": 3,
            "column": 5,
            "text": "x",
            "detail": "expected a number",
            "file": "a.txt",
            "unit": "line",
        }
    ]
    assert problem["more"] is False


def test_an_unreadable_file_is_named_by_the_kind_of_job() -> None:
    """A dataset and a click log are read by the same readers."""
    error = DatasetError.at("expected a number")
    titles = [problem_of(error, kind)["title"] for kind in ("ingest", "ingest-clicks")]
    assert titles == ["Dataset cannot be read", "Click log cannot be read"]


def test_further_unlisted_problems_are_reported() -> None:
    """The field `more` shows that the list of problems is not complete."""
    problem = problem_of(DatasetError(DatasetProblem("a"), DatasetProblem("b"), more=True), "ingest")
    assert [error["detail"] for error in problem["errors"]] == ["a", "b"]
    assert problem["more"] is True


def test_an_invalid_input_names_its_pointers() -> None:
    """Each mistake in a specification has its JSON pointer."""
    problem = problem_of(InvalidInput.at("/loss/mu", "must be at least 0"), "train")
    assert problem["errors"] == [{"pointer": "/loss/mu", "detail": "must be at least 0"}]


def test_a_memory_error_has_a_title() -> None:
    """The title names the cause, so that the user can act."""
    assert problem_of(MemoryError(), "train")["title"] == "Out of memory"
