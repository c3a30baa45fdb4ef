"""Colours of many lines are distinguishable, also with red-green colour blindness."""

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import app.dashboard

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
SIGHT = {
    "all": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
}
# Ottosson (2020), Oklab: least difference between two of the ten hues, 4 times the just noticeable one.
MIN_DIFFERENCE = 0.075
MIN_CONTRAST = 3.0
_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def _tokens() -> dict[str, tuple[str, str]]:
    """Read the colours, light and dark, by name."""
    sheet = (Path(app.dashboard.__file__).parent / "static/styles/tokens.css").read_text()
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", sheet)
    return {name: (light, dark) for name, light, dark in pairs}


def _linear(colour: str) -> Any:
    parts = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _oklab(linear: Any) -> Any:
    return np.cbrt(linear @ _LMS.T) @ _LAB.T


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_ten_hues_are_distinguishable(theme: int) -> None:
    """Hues differ from each other, and have enough contrast with the surface."""
    tokens = _tokens()
    hues = [_linear(tokens[f"hue-{index}"][theme]) for index in range(1, 11)]
    surface = _LUMINANCE @ _linear(tokens["surface"][theme]) + 0.05
    for hue in hues:
        light, dark = sorted((_LUMINANCE @ hue + 0.05, surface), reverse=True)
        assert light / dark >= MIN_CONTRAST
    for sight in SIGHT.values():
        seen = [_oklab(np.clip(sight @ hue, 0.0, 1.0)) for hue in hues]
        least = min(float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2))
        assert least >= MIN_DIFFERENCE
