"""Build training requests."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rankery.cli.connection import ServiceConnection
from rankery.cli.exit_codes import WrongUsage
from rankery.cli.references import dataset_or_upload
from rankery.cli.texts import NotUnderstood, object_of_file
from rankery.errors import FileUnusable, UserError

NONE = "none"
_TRAINING = '{"kind": "train", "model_name": …, "loss": …}'
_MIN_SIMILARITY = 0.8
_INVALID_CHARACTERS = re.compile(r"^[^a-z0-9]+|[^a-z0-9._-]+")


class NoSuchLoss(UserError):
    """Raised for an unknown loss or loss option."""


class TooFewQueries(UserError):
    """Raised when a share of the queries is to be held out of data with a single query."""


class NoSuchHyperparameter(UserError):
    """Raised for a hyperparameter whose name is probably misspelt."""


def check_hyperparameters(
    session: ServiceConnection, hyperparameters: Mapping[str, Any], scorer: Mapping[str, Any] | None
) -> None:
    """Refuse misspelt hyperparameters before data are uploaded.

    An unknown name that resembles no hyperparameter is left to the service, which refuses it.

    Raises:
        NoSuchHyperparameter: A name is misspelt; the message has the nearest spelling.
    """
    from rankery.client.schemas.requests import Hyperparameters

    names_by_kind: dict[str, list[str]] = {"trees": list(Hyperparameters.__annotations__)}
    if scorer is not None:
        kinds = session.client.request("GET", "/v1/scorers").json()["items"]
        names_by_kind |= {
            kind["kind"]: [parameter["name"] for parameter in kind["parameters"]]
            for kind in kinds
            if kind["is_network"]
        }
    given = {"trees": hyperparameters, str((scorer or {}).get("kind")): scorer or {}}
    for kind, values in given.items():
        for name in values:
            near = get_close_matches(name, names_by_kind.get(kind, ()), n=1, cutoff=_MIN_SIMILARITY)
            if near and near[0] != name and name != "kind":
                raise NoSuchHyperparameter(
                    f"{kind} have no hyperparameter {name!r}; did you mean {near[0]!r}?"
                )


def check_losses(session: ServiceConnection, losses: Iterable[Mapping[str, Any]]) -> None:
    """Refuse unknown losses and loss options before data are uploaded.

    Raises:
        NoSuchLoss: A name is unknown; the message has the nearest spelling.
    """
    described = {one["name"]: one for one in session.client.request("GET", "/v1/losses").json()["items"]}
    for loss in losses:
        name = str(loss["name"])
        if name not in described:
            raise NoSuchLoss(_unknown_name_message("loss", name, list(described)))
        parameters = [parameter["name"] for parameter in described[name]["parameters"]]
        for option in loss:
            if option not in ("name", *parameters):
                raise NoSuchLoss(_unknown_name_message(f"option of {name}", option, parameters))


@dataclass(frozen=True)
class Sources:
    """The data of a training, as written on the command line.

    Attributes:
        data: Training data: a file, or a dataset's id or name.
        validation: A share of the queries such as "0.2", a file, a dataset's id or name, or "none".
        test: Same forms as `validation`.
    """

    data: str
    validation: str | None
    test: str | None
    columns: dict[str, Any] | None = None

    def fields(self, session: ServiceConnection) -> dict[str, Any]:
        """Upload the files, and return the dataset fields of a training request.

        Raises:
            JobFailed: A file is not judged data; the message names line and column.
            NameUnclear: No dataset has the name, or several of different content have it.
            NotUnderstood: A share of the queries is not between 0 and 1.
            TooFewQueries: A share is to be held out of a single query.
        """
        from rankery.client.arguments import test_fields  # imported late: it imports the client

        shares = [share_field(text) for text in (self.validation, self.test)]
        dataset = dataset_or_upload(session, self.data, self.columns)
        for option, share in zip(("--validation", "--test"), shares, strict=True):
            if share is not None and (dataset.statistics or {}).get("queries") == 1:
                raise TooFewQueries(
                    f"{dataset.name} has a single query, so that {option} cannot hold out a share; give data"
                    f" with more queries, or {option} {NONE}"
                )
        held_out: list[Any] = [
            share
            if share is not None or text in (None, NONE)
            else {"dataset_id": dataset_or_upload(session, text, self.columns).id}
            for text, share in zip((self.validation, self.test), shares, strict=True)
        ]
        validation, test = held_out
        fields: dict[str, Any] = {"dataset_id": dataset.id, **test_fields(test)}
        return fields if validation is None else fields | {"validation": validation}


def share_field(text: str | None) -> dict[str, Any] | None:
    """Return the hold-out of a request for a share of the queries, such as "0.2"; None for other texts.

    Raises:
        NotUnderstood: The number is not between 0 and 1.
    """
    try:
        fraction = float(text or "")
    except ValueError:
        return None
    if not 0 < fraction < 1:
        raise NotUnderstood(
            f"a share of the queries must be above 0 and below 1, not {text}; give a dataset whose name is a"
            " number by its id"
        )
    return {"fraction": fraction}


def model_name_of(data: str) -> str:
    """Return the default name of a model: the name of the data as a valid model name.

    Example:
        >>> model_name_of("data/MSLR Fold1.txt.gz")
        'mslr-fold1'
    """
    stem = Path(data).name.partition(".")[0].lower()
    return _INVALID_CHARACTERS.sub("-", stem).strip("-._")[:100] or "model"


def job_of_file(path: Path) -> dict[str, Any]:
    """Read the request of a training from a JSON file.

    Raises:
        FileUnusable: The file does not hold a training.
    """
    body = object_of_file(path, _TRAINING)
    if body.get("kind", "train") != "train" or "loss" not in body:
        raise FileUnusable(f"{path.name} must hold a training: {_TRAINING}")
    return {"kind": "train", **body}


def _unknown_name_message(noun: str, name: str, available: list[str]) -> str:
    near = get_close_matches(name, available, n=1, cutoff=0.5)
    suggestion = f"; did you mean {near[0]!r}?" if near else ""
    return f"there is no {noun} {name!r}{suggestion} (available: {', '.join(available) or 'none'})"


def early_stopping_of(
    iterations: int | None, metrics: list[str] | None, validation: str | None
) -> dict[str, Any] | None:
    """Return the field `early_stopping` of a request, None without the option.

    Args:
        iterations: `--early-stopping`.
        metrics: `--metric`; the first one decides.
        validation: `--validation`.

    Raises:
        WrongUsage: There are no validation data.
    """
    if iterations is None:
        return None
    if validation == NONE:
        raise WrongUsage("--early-stopping needs --validation data, not none")
    from rankery.client.arguments import early_stopping_field  # imported late: it imports the client

    return early_stopping_field(iterations, metrics)
