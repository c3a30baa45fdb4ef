"""The points of a grid of trainings."""

import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import product
from typing import Any

TREES = "trees"
LOSS_POINTER = "/loss"
_LOSS, _SEED, _SCORER = "loss", "seed", "scorer"


def points(spec: Mapping[str, Any], grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield a job for each point of a grid, with the grid values as tags of the model.

    Args:
        spec: Job that the points are derived from.
        grid: Values by name of a hyperparameter of the scorer. Other names are `loss` for names of losses,
            `loss.mu` for an option of the loss and `scorer` for kinds of scorers. `scorer.dropout` is an
            option of a scorer, and `seed` the seed of the job.

    Example:
        >>> [job["hyperparameters"] for job in points({"hyperparameters": {}}, {"num_leaves": [31, 63]})]
        [{'num_leaves': 31}, {'num_leaves': 63}]
    """
    for values in product(*grid.values()):
        job = deepcopy(dict(spec))
        for name, value in zip(grid, values, strict=True):
            if name == _LOSS:
                job["loss"] = {**(job.get("loss") or {}), "name": value}
            elif name == _SEED:
                job["seed"] = value
            elif name == _SCORER:
                is_trees = value == TREES
                job["scorer"] = None if is_trees else {"kind": value}
                job["hyperparameters"] = job.get("hyperparameters", {}) if is_trees else {}
            else:
                is_network = (job.get("scorer") or {}).get("kind", TREES) != TREES
                part, field = part_of(name, is_network=is_network)
                job[part] = {**(job.get(part) or {}), field: value}
        if grid:
            varied = {
                name: value if isinstance(value, str) else json.dumps(value)
                for name, value in zip(grid, values, strict=True)
            }
            job["tags"] = {**(job.get("tags") or {}), **varied}
        yield job


def part_of(name: str, *, is_network: bool) -> tuple[str, str]:
    """Return the section of a request that a grid parameter belongs to, and its field name there.

    Example:
        >>> part_of("scorer.dropout", is_network=True), part_of("num_leaves", is_network=False)
        (('scorer', 'dropout'), ('hyperparameters', 'num_leaves'))
    """
    part, dot, field = name.partition(".")
    if dot and part in ("loss", "scorer"):
        return part, field
    return ("scorer" if is_network else "hyperparameters"), name


def pointer_of(name: str, *, is_network: bool) -> str:
    """Return the JSON pointer of a parameter to search; a pointer is returned unchanged.

    Example:
        >>> pointer_of("loss.sigma", is_network=True), pointer_of("num_leaves", is_network=False)
        ('/loss/sigma', '/hyperparameters/num_leaves')
    """
    if name.startswith("/"):
        return name
    if name == _LOSS:
        return LOSS_POINTER
    part, field = part_of(name, is_network=is_network)
    return f"/{part}/{field}"


def searched_value(pointer: str, value: Any) -> Any:
    """Return a value of a parameter to search: the name of a loss becomes an object."""
    return {"name": value} if pointer == LOSS_POINTER and isinstance(value, str) else value
