"""Seconds until each page of the dashboard can be used, with 10,000 jobs and 1,000 models on record.

A page can be used once it shows what it is about and its thread is free for the next key: the moment is taken
in the browser, from the beginning of the navigation. `settled` is the end of its last long task, by when the
charts stand as well. `new` is a browser that has never been here, `known` one that has the page's files.
"""

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, sync_playwright
from rich.console import Console
from rich.progress import track
from rich.table import Column, Table
from sqlalchemy import Connection, create_engine, insert, select

from core.store.repositories import ids
from core.store.tables import Evaluation, Job, JobIteration, Model, ModelAlias
from rankery.client import Client
from rankery.embedded.stack import EmbeddedStack

TARGET_SECONDS = 1.0
VERSIONS = 10
FAILED_SHARE = 50
ITERATIONS = 100
_SETTLE_MILLISECONDS = 700
_CHUNK = 500

# Resolves when nothing in the page is busy any more and the thread has drawn a frame and is free.
_WATCH = """
(() => {
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.longTasks.push(task.startTime + task.duration);
  }).observe({ type: "longtask", buffered: true });
  const busy = () => [...document.querySelectorAll("main, main [aria-busy]")].some(
    (part) => part.hasAttribute("aria-busy") && part.checkVisibility(),
  );
  window.usable = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("still busy")), 20000);
    const look = () => {
      if (document.readyState === "loading" || busy()) requestAnimationFrame(look);
      else requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
    };
    look();
  });
})();
"""


@dataclass(frozen=True)
class Times:
    """Milliseconds from the beginning of a navigation until a page can be used, and until it has settled."""

    usable: float
    settled: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="the browser's program")
    arguments = parser.parse_args()
    console = Console()
    with (
        tempfile.TemporaryDirectory(prefix="rankery-bench-") as name,
        EmbeddedStack(Path(name)) as stack,
        Client(stack.url) as client,
        chromium(arguments.chromium) as browser,
    ):
        with console.status("making one of everything"):
            pages = one_of_everything(client)
        with console.status("making very many of them"):
            multiply(stack.data_dir / "rankery.db", arguments.jobs, arguments.models)
        measured = {
            page: measure(browser, stack.url + path, arguments.rounds)
            for page, path in track(pages.items(), "opening pages", console=console)
        }
        console.print(table(measured))


@contextmanager
def chromium(program: str | None) -> Iterator[Browser]:
    """Start the browser."""
    if program is None:
        raise SystemExit("no chromium on the PATH; name it with --chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def one_of_everything(client: Client) -> dict[str, str]:
    """Have the service make what there are pages of; returns the path of each page."""
    train, test = (
        client.synthetic_dataset(300, seed=seed, name=name).wait(progress=False)
        for seed, name in enumerate(("train", "test"))
    )
    trainings = [
        client.train(
            "web", train, loss, validation=0.2, test=test, hyperparameters={"num_iterations": ITERATIONS}
        ).wait(progress=False)
        for loss in ("lambdarank", "ndcg-loss2++")
    ]
    lambdarank, lambdaloss = (job.model() for job in trainings)
    others = [
        client.compare(test, [lambdarank, lambdaloss], metrics=["ndcg@10"]),
        client.rank_dataset(lambdaloss, test),
        client.inspect(lambdaloss, test),
    ]
    compared, ranked, _ = (job.wait(progress=False) for job in others)
    client.set_alias("web", "champion", 1)
    query = next(iter(test.queries())).query_id
    return {
        "overview": "/",
        "jobs": "/jobs",
        "jobs by metric": "/jobs?sort=metric",
        "jobs by name": "/jobs?text=ranker-7",
        "job": f"/jobs/{trainings[1].id}",
        "datasets": "/datasets",
        "dataset": f"/datasets/{test.id}",
        "query": f"/datasets/{test.id}/queries/{query}",
        "new training": "/train",
        "models": "/models",
        "model": "/models/web:2",
        "evaluations": "/evaluations",
        "evaluation": f"/evaluations/{trainings[1].evaluation().id}",
        "comparisons": "/comparisons",
        "comparison": f"/comparisons/{compared.comparison().id}",
        "rankings": "/rankings",
        "ranking": f"/rankings/{ranked.ranking().id}",
    }


def multiply(database: Path, n_jobs: int, n_models: int) -> None:
    """Repeat a finished training until there are so many jobs and models; a part of the jobs have failed."""
    engine = create_engine(f"sqlite:///{database}")
    with engine.begin() as connection:
        job = _first(connection, Job, Job.kind == "train")
        model = _first(connection, Model)
        evaluation = _first(connection, Evaluation)
        points = connection.execute(
            select(*JobIteration.__table__.columns).where(JobIteration.job_id == job["id"])
        )
        curve = [row._asdict() for row in points]
        jobs = [_job(job, number) for number in range(n_jobs)]
        _insert(connection, Job, jobs)
        _insert(
            connection, JobIteration, [point | {"job_id": each["id"]} for each in jobs for point in curve]
        )
        models = [_model(model, jobs[number]["id"], number) for number in range(n_models)]
        _insert(connection, Model, models)
        first = [one for one in models if one["version"] == 1]
        champions = [{"name": one["name"], "alias": "champion", "model_id": one["id"]} for one in first]
        _insert(connection, ModelAlias, champions)
        evaluations = [
            evaluation | {"id": ids.new_id(ids.EVALUATION), "job_id": one["job_id"], "model_id": one["id"]}
            for one in models
        ]
        _insert(connection, Evaluation, evaluations)
    engine.dispose()


def _first(connection: Connection, table: Any, *conditions: Any) -> dict[str, Any]:
    rows = select(*table.__table__.columns).where(*conditions).order_by(table.id).limit(1)
    return connection.execute(rows).one()._asdict()


def _job(job: dict[str, Any], number: int) -> dict[str, Any]:
    copied = job | {
        "id": ids.new_id(ids.JOB),
        "spec": job["spec"] | {"model_name": f"ranker {number // VERSIONS}"},
    }
    if number % FAILED_SHARE:
        return copied
    problem = {"title": "Training stopped", "detail": "The loss is not finite from iteration 7 on."}
    return copied | {"status": "failed", "problem": problem, "result": None}


def _model(model: dict[str, Any], job_id: str, number: int) -> dict[str, Any]:
    return model | {
        "id": ids.new_id(ids.MODEL),
        "job_id": job_id,
        "name": f"ranker-{number // VERSIONS}",
        "version": number % VERSIONS + 1,
    }


def _insert(connection: Connection, table: Any, rows: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(rows), _CHUNK):
        connection.execute(insert(table), rows[start : start + _CHUNK])


def measure(browser: Browser, address: str, rounds: int) -> dict[str, list[Times]]:
    """Open a page several times with a browser that is new to the service, and again with each."""
    times: dict[str, list[Times]] = {"new": [], "known": []}
    for _ in range(rounds):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.add_init_script(_WATCH)
        for visitor in times:
            times[visitor].append(visit(context, address))
        context.close()
    return times


def visit(context: BrowserContext, address: str) -> Times:
    """Open a page once."""
    page = context.new_page()
    answer = page.goto(address)
    if answer is None or not answer.ok:
        raise SystemExit(f"{address} answers {answer and answer.status}")
    usable = float(page.evaluate("window.usable"))
    page.wait_for_timeout(_SETTLE_MILLISECONDS)
    settled = max([usable, *page.evaluate("window.longTasks")])
    page.close()
    return Times(usable, settled)


def table(measured: dict[str, dict[str, list[Times]]]) -> Table:
    """Lay out medians in seconds, and the worst."""
    shown = Table(
        Column("page", no_wrap=True),
        "new: usable",
        "worst",
        "settled",
        "known: usable",
        "worst",
        "settled",
        "under 1 s",
    )
    for page, times in measured.items():
        cells = []
        for visits in times.values():
            usable = [one.usable / 1000 for one in visits]
            settled = statistics.median(one.settled / 1000 for one in visits)
            cells += [f"{statistics.median(usable):.2f}", f"{max(usable):.2f}", f"{settled:.2f}"]
        met = all(max(one.usable for one in visits) < 1000 * TARGET_SECONDS for visits in times.values())
        shown.add_row(page, *cells, "yes" if met else "NO")
    return shown


if __name__ == "__main__":
    main()
