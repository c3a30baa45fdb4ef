"""List of screenshots, and the HTML figure that a guide page shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Literal

FOLDER = Path(__file__).parents[2] / "build" / "screenshots"
GUIDE_FOLDER = "images/screenshots"
WIDTH, HEIGHT = 1120, 780
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@dataclass(frozen=True)
class Screenshot:
    """A page of the dashboard.

    Attributes:
        path: Path of the page, with placeholders in braces for ids of the prepared service.
        description: Text alternative.
        caption: One sentence under the picture.
    """

    path: str
    description: str
    caption: str


SCREENSHOTS: Mapping[str, Screenshot] = MappingProxyType(
    {
        "overview": Screenshot(
            "/",
            "The overview of the dashboard: workers, jobs, recent results and models",
            "The overview shows whether workers run, and their latest results.",
        ),
        "datasets": Screenshot(
            "/datasets",
            "The list of datasets with the numbers of their queries, documents and features",
            "Each dataset is listed with its size; the page of a dataset has its findings.",
        ),
        "dataset": Screenshot(
            "/datasets/{dataset}",
            "The page of a dataset: its size, the distribution of its labels, and the doctor's findings",
            "The findings are on the page of a dataset as soon as the dataset is read.",
        ),
        "query": Screenshot(
            "/datasets/{dataset}/queries/{query}",
            "The documents of one query with their labels and features",
            "Documents of one query with their judgments.",
        ),
        "train": Screenshot(
            "/train?goal=loss&dataset={dataset}",
            "The form for a new training: data, loss, hyperparameters and metrics",
            "A training has data, a loss and LightGBM's hyperparameters.",
        ),
        "job": Screenshot(
            "/jobs/{job}",
            "The page of a training: its metrics with intervals, and the curves of training and validation",
            "Learning curves are drawn while the training runs.",
        ),
        "grid": Screenshot(
            "/jobs/compare?{grid}",
            "Four trainings of a grid side by side: their learning curves, settings and results",
            "Trainings of a grid side by side.",
        ),
        "evaluation": Screenshot(
            "/evaluations/{evaluation}",
            "An evaluation: each metric with its interval, compared with baselines and by segment",
            "An evaluation compares a model with its baselines; each number has its interval.",
        ),
        "comparison": Screenshot(
            "/comparisons/{comparison}",
            "A comparison: the verdict in a sentence, the means with their intervals, and the tests",
            "A comparison begins with its verdict; the tests and the difference of every query follow.",
        ),
        "model": Screenshot(
            "/models/{model}",
            "The page of a model: its versions, its test metrics, its aliases and its feature importance",
            "The page of a model has its aliases, their gates, its importance and its exports.",
        ),
    }
)


def figure(name: str, depth: int, folder: Path = FOLDER) -> str:
    """Return the figure of a screenshot for a guide page; empty without a screenshot.

    Raises:
        KeyError: No screenshot has this name.
    """
    shot = SCREENSHOTS[name]
    if not all(file_of(name, scheme, folder).is_file() for scheme in SCHEMES):
        return ""
    images = "\n".join(
        f"![{shot.description}]({'../' * depth}{GUIDE_FOLDER}/{file_of(name, scheme).name}#only-{scheme})"
        f'{{ width="{WIDTH}" height="{HEIGHT}" loading=lazy }}'
        for scheme in SCHEMES
    )
    caption = f"<figcaption>{escape(shot.caption)}</figcaption>"
    return f'<figure class="screenshot" markdown>\n{images}\n{caption}\n</figure>'


def file_of(name: str, scheme: str, folder: Path = FOLDER) -> Path:
    """Return the path of the screenshot of a colour scheme."""
    return folder / f"{name}-{scheme}.webp"
