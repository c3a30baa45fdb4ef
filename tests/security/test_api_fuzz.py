"""The OpenAPI document holds what it promises, in short; `make test-api-fuzz` is the long form."""

from collections.abc import Iterator

import pytest

from tests.security.api_fuzz import UNBOUNDED, fuzz
from tests.security.target import Target, running_target, stock, stop_worker


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A service of its own, whose worker is stopped: what a fuzzer submits may be large."""
    with running_target(tmp_path_factory.mktemp("fuzzed"), **UNBOUNDED) as (target, stack):
        stock(target)
        target.require_keys(["admin"])
        stop_worker(stack)
        yield target


@pytest.mark.parametrize("with_key", [False, True], ids=["without a key", "with a key"])
def test_every_answer_is_as_documented(fuzzed: Target, tmp_path: object, with_key: bool) -> None:
    """Random and boundary requests: no 500, no undocumented answer, nothing without a key but the probes."""
    secret = fuzzed.secrets["admin"] if with_key else None
    folder = fuzzed.data_dir.parent / f"fuzz-{with_key}"
    run = fuzz(fuzzed, folder, 2, phases="examples,fuzzing", secret=secret, seed=1)
    assert run.failures == 0, run.report[-8_000:]
    assert run.requests >= 100
