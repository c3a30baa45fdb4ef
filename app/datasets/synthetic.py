"""Make synthetic datasets."""

from itertools import pairwise
from typing import Annotated, Any, Literal

from fastapi import Body
from pydantic import Field
from starlette.responses import Response

from app.datasets.ingestion import accepted_dataset, queue_ingestion
from app.datasets.schemas import Dataset
from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency
from app.http.labels import NewProject
from app.http.openapi import body_problems
from app.http.route import ACCEPTED, JsonRoute, Router
from app.http.schemas import DisplayName, RequestModel
from app.http.services import UseServices
from core.data.synthetic import GAINS_2006, ISTELLA_X_DOCUMENTS
from core.errors import InputProblem, InvalidInput

router = Router(prefix="/v1/datasets", tags=["datasets"], route_class=JsonRoute)

MAX_QUERIES = 200_000
# The largest signed 64-bit integer; generators take no negative seeds.
MAX_SEED = 2**63 - 1
# Enough for all of Istella-X with 40 features, 4 GiB.
MAX_SYNTHETIC_DOCUMENTS = 27_000_000
MAX_SYNTHETIC_VALUES = 2**30
_N_GAINS = len(GAINS_2006)


class SyntheticDatasetRequest(RequestModel):
    """A dataset drawn from a random cubic polynomial (Burges et al. 2006, section 6.3.1)."""

    name: DisplayName | None = None
    project: NewProject = Field(None, exclude=True)
    queries: int = Field(ge=1, le=MAX_QUERIES, description="Number of queries", examples=[1000])
    seed: int = Field(0, ge=0, le=MAX_SEED, description="Seed of the documents and their noise")
    polynomial_seed: int = Field(
        0, ge=0, le=MAX_SEED, description="Seed of the hidden function; share it between train and test sets"
    )
    generator: Literal["polynomial", "sparse"] = Field(
        "polynomial",
        description="`polynomial`: label shares of web search (2006); `sparse`: long lists, few relevant"
        " documents (Istella-X, 2023)",
    )
    documents_per_query: int | None = Field(
        None,
        ge=1,
        le=100_000,
        description="Documents per query; default 50, or 2,679 for `sparse`",
        examples=[50],
    )
    features: int | None = Field(
        None, ge=1, le=500, description="Number of features; default 50", examples=[50]
    )
    noise: float | None = Field(
        None,
        ge=0,
        le=1000,
        description="Normal noise, in standard deviations of the polynomial; default 0",
        examples=[0.5],
    )
    gains: list[Annotated[float, Field(ge=0, le=1e6)]] | None = Field(
        None,
        min_length=_N_GAINS,
        max_length=_N_GAINS,
        description="Increasing numbers that replace the labels 0 to 4, for losses and metrics with a linear"
        " gain. To keep the labels, leave it out and pass the list as the gain of losses and metrics",
        examples=[list(GAINS_2006)],
    )
    relevant_per_query: float | None = Field(
        None,
        ge=1,
        le=100_000,
        description="Mean number of documents per query with a label above 0, for `sparse`; default 0.17% of"
        " the documents, at least 1",
        examples=[20],
    )

    def source(self) -> dict[str, Any]:
        """Return the source to store; defaults of parameters that older rows lack are omitted.

        Raises:
            InvalidInput: The parameters contradict each other, or request too much data.
        """
        sparse = self.generator == "sparse"
        documents = self.documents_per_query or (ISTELLA_X_DOCUMENTS if sparse else 50)
        problems = []
        if self.relevant_per_query is not None and not sparse:
            problems.append(InputProblem("/relevant_per_query", "requires the generator sparse"))
        elif self.relevant_per_query is not None and self.relevant_per_query > documents:
            problems.append(
                InputProblem("/relevant_per_query", f"must be at most the {documents:,} documents")
            )
        if self.gains is not None and any(low >= high for low, high in pairwise(self.gains)):
            problems.append(InputProblem("/gains", "must increase"))
        total = self.queries * documents
        if total > MAX_SYNTHETIC_DOCUMENTS or total * (self.features or 50) > MAX_SYNTHETIC_VALUES:
            problems.append(
                InputProblem(
                    "/queries",
                    f"these are {total:,} documents; at most {MAX_SYNTHETIC_DOCUMENTS:,} documents with"
                    f" {MAX_SYNTHETIC_VALUES:,} feature values can be created",
                )
            )
        if problems:
            raise InvalidInput(*problems)
        chosen = self.model_dump(exclude={"name"}, exclude_none=True)
        if not sparse:
            del chosen["generator"]
        return {"kind": "synthetic", **chosen}


_SYNTHETIC_EXAMPLES: Any = {
    "train": {"summary": "A thousand queries", "value": {"name": "toy train", "queries": 1000, "seed": 1}},
    "test": {
        "summary": "Fresh queries of the same hidden function",
        "value": {"name": "toy test", "queries": 200, "seed": 2, "polynomial_seed": 0},
    },
    "noisy": {
        "summary": "Other lists, with noise and the gains of 2006 as labels",
        "value": {
            "queries": 100,
            "documents_per_query": 20,
            "features": 30,
            "noise": 0.5,
            "gains": [0, 3, 7, 15, 31],
        },
    },
    "sparse": {
        "summary": "Long lists with few relevant documents",
        "value": {
            "name": "sparse train",
            "generator": "sparse",
            "queries": 100,
            "documents_per_query": 1000,
            "relevant_per_query": 20,
        },
    },
}


@router.post(
    "/synthetic",
    summary="Make a synthetic dataset",
    status_code=ACCEPTED,
    response_model=Dataset,
    responses=body_problems(409),
)
def create_synthetic_dataset(
    body: Annotated[SyntheticDatasetRequest, Body(openapi_examples=_SYNTHETIC_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Queue a job that draws queries whose labels follow a random cubic polynomial.

    Datasets that differ only in `seed` and `queries` have the same hidden function.
    """
    source = body.source()
    with idempotency.begin(services.store) as tx:
        tx.quotas.allow_jobs(caller.key_id, services.settings.max_active_jobs)
        kind = "sparse" if body.generator == "sparse" else "synthetic"
        name = body.name or f"{kind}, {body.queries} queries, seed {body.seed}"
        dataset = tx.datasets.add(name, source, key_id=caller.key_id, project=body.project)
        job = queue_ingestion(tx, dataset, caller.key_id)
        created = idempotency.keep(tx, accepted_dataset(dataset))
    services.wake_workers(job)
    return created
