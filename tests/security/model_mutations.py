"""Random mutations of model texts; the module imports no training code and runs in a separate process."""

import random
import re

import numpy as np

from core.data import synthetic_dataset
from core.errors import ModelError
from core.scoring import Forest


def score_mutations(model_text: str, mutations: int) -> tuple[int, int]:
    """Parse and score mutations of a model; return the numbers of refused and of scored mutations."""
    features = synthetic_dataset(2, seed=3).features
    draw = random.Random(5)
    scored = 0
    for _ in range(mutations):
        try:
            forest = Forest.parse(_mutated(model_text, draw))
            if forest.n_features == features.shape[1]:
                assert np.isfinite(forest.score(features)).all()
            scored += 1
        except ModelError:
            continue
    return mutations - scored, scored


def _mutated(text: str, draw: random.Random) -> str:
    for _ in range(draw.randint(1, 3)):
        text = draw.choice(
            (
                _with_another_character,
                _with_another_number,
                _with_a_gap,
                _with_repeated_text,
                _with_swapped_lines,
            )
        )(text, draw)
    return text


def _with_another_character(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text))
    return text[:at] + draw.choice("0123456789-+.einf =\n\t\x00é") + text[at + 1 :]


def _with_another_number(text: str, draw: random.Random) -> str:
    numbers = list(re.finditer(r"-?\d+(\.\d+)?", text))
    number = draw.choice(numbers)
    other = draw.choice(
        ["-1", "0", "1", "3", "1e308", "-1e308", "nan", "inf", "2147483648", str(-(2**63)), "1e9"]
    )
    return text[: number.start()] + other + text[number.end() :]


def _with_a_gap(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text))
    return text[:at] + text[at + draw.choice([1, 10, 1000]) :] or "t"


def _with_repeated_text(text: str, draw: random.Random) -> str:
    at = draw.randrange(len(text))
    return text[:at] + text[at : at + draw.choice([1, 30, 500])] + text[at:]


def _with_swapped_lines(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    a, b = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)
