"""Requests and responses of interleavings."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.http.labels import NewProject, ShownProject
from app.http.schemas import ModelReference, PageModel, RequestModel, ResponseModel, VisibleText, example
from app.scoring.schemas import CallerId, CandidateDocument
from core.interleaving import Method, SequentialRule, sample_size
from core.interleaving.sequential import Conclusion
from core.store.tables import Interleaving as InterleavingRow

_ID = "itl_01k9x2m4q7c8v5n3b6r1"
_LIST_ID = "lst_01k9x2m4q7c8v5n3b6r2"
_SHOWN: dict[str, Any] = {
    "id": _ID,
    "name": "new features",
    "rankers": ["web:3", "web:4"],
    "model_ids": ["mdl_01k9x3a7d5f8g2h4j6k9", "mdl_01k9x3a7d5f8g2h4j6ka"],
    "method": "team_draft",
    "length": 10,
    "seed": 42,
    "unit": "user",
    "error": 0.05,
    "miss": 0.2,
    "difference": 0.05,
    "sample_size": 785,
    "click_window_seconds": 1_800,
    "project": "web",
    "created_at": "2026-01-05T09:30:00Z",
}
CREATE_EXAMPLES: Any = {
    "models": {
        "summary": "Two versions of a model",
        "value": {"name": "new features", "models": ["web:3", "web:4"]},
    },
    "rankings": {
        "summary": "Rankings that the client sends, of four rankers",
        "value": {"name": "four engines", "rankings": ["bm25", "dense", "hybrid", "ltr"], "difference": 0.1},
    },
}
LIST_EXAMPLES: Any = {
    "models": {
        "summary": "Candidates that the models rank",
        "value": {
            "user": "u-17",
            "query": {
                "id": "q1",
                "documents": [
                    {"id": "d1", "features": {"bm25": 12.5, "pagerank": 0.3}},
                    {"id": "d2", "features": {"bm25": 9.1}},
                ],
            },
        },
    },
    "rankings": {
        "summary": "Rankings that the client sends, by ranker",
        "value": {
            "user": "u-17",
            "query": {"id": "q1"},
            "rankings": {"bm25": ["d1", "d2", "d3"], "dense": ["d3", "d1", "d2"]},
        },
    },
}
EVENT_EXAMPLES: Any = {
    "clicks": {
        "summary": "Two clicks on one list",
        "value": {
            "events": [
                {"ranking_id": _LIST_ID, "document_id": "d1"},
                {"ranking_id": _LIST_ID, "document_id": "d2"},
            ]
        },
    }
}

RankerName = VisibleText


class InterleavingRequest(RequestModel):
    """An interleaving of models, or of rankings that the caller makes."""

    name: VisibleText = Field(examples=["new features"])
    models: list[ModelReference] | None = Field(
        None,
        min_length=2,
        max_length=10,
        description="References of two or more models; resolved to versions immediately",
    )
    rankings: list[RankerName] | None = Field(
        None,
        min_length=2,
        max_length=10,
        description="Names of two or more rankers whose rankings are sent with each list request",
    )
    method: Method = Field(
        "team_draft", description="Interleaving method; `balanced` and `optimised` support only two rankers"
    )
    length: int = Field(10, ge=1, le=100, description="Maximum number of documents of a list")
    seed: int = Field(42, ge=0, le=2**31 - 1)
    unit: Literal["user", "list"] = Field(
        "user",
        description="Independent units of the test: `user` takes the first list of each user on which the"
        " credits differ; `list` takes all lists",
    )
    error: float = Field(
        0.05,
        gt=0,
        lt=0.5,
        description="Maximum probability of a winner if the rankers are equal (type I error)",
    )
    miss: float = Field(
        0.2,
        gt=0,
        lt=0.5,
        description="Maximum probability of the conclusion `equal` if the rankers differ by `difference`"
        " (type II error)",
    )
    difference: float = Field(
        0.05,
        ge=1e-6,  # the sample size grows with the inverse square
        lt=0.5,
        description="Minimum difference of interest: the share of decided units that prefer the better"
        " ranker, minus one half",
    )
    click_window_seconds: int = Field(
        1_800,
        ge=0,
        le=604_800,
        description="Time after a list is shown in which clicks count; afterwards the list is evaluated. With"
        " 0, clicks always count immediately",
    )
    project: NewProject = Field(
        None, description="Project of the interleaving; by default the only project of the API key"
    )


SampleSize = Annotated[
    int,
    Field(
        description="Number of decided units that a test with a fixed sample size would need for each pair of"
        " rankers"
    ),
]


class Interleaving(ResponseModel):
    """An interleaving."""

    model_config = example(_SHOWN)

    id: str
    name: str
    rankers: list[str] = Field(description="Names of the rankers, or references of the models")
    model_ids: list[str] | None = Field(description="Ids of the models; null if clients send the rankings")
    method: Method
    length: int
    seed: int
    unit: Literal["user", "list"]
    error: float
    miss: float
    difference: float
    sample_size: SampleSize
    click_window_seconds: int
    project: ShownProject
    created_at: datetime

    @classmethod
    def of(cls, row: InterleavingRow) -> "Interleaving":
        """Return the response of a stored interleaving."""
        rule = SequentialRule(**row.rule).of_each_pair(len(row.rankers))
        return cls.model_validate({**row.column_values(), **row.rule, "sample_size": sample_size(rule)})


class InterleavingPage(PageModel):
    """A page of interleavings, in the requested order."""

    items: list[Interleaving]


class InterleavedQuery(RequestModel):
    """A query, with its candidate documents where models rank them."""

    id: CallerId = Field(
        description="Id of the query; each user gets the same list for it while the list is stored",
        examples=["q1"],
    )
    documents: list[CandidateDocument] | None = Field(
        None, description="Candidate documents, as in `/rank`; omitted with `rankings`"
    )


class ListRequest(RequestModel):
    """A request for an interleaved list."""

    user: CallerId | None = Field(
        None,
        description="Any text that identifies the user; only its hash is stored. Without it each request gets"
        " a new list",
        examples=["u-17"],
    )
    query: InterleavedQuery
    rankings: dict[RankerName, Annotated[list[CallerId], Field(max_length=10_000)]] | None = Field(
        None,
        max_length=10,
        description="Ids of documents by ranker, best first; only for an interleaving without models. If a"
        " ranking is empty, clicks on the list are not credited",
    )


class ShownList(ResponseModel):
    """An interleaved list to show."""

    model_config = example({"ranking_id": _LIST_ID, "query": "q1", "documents": ["d1", "d2"], "kept": False})

    ranking_id: str = Field(description="Id of the list, for its click events")
    query: str
    documents: list[str] = Field(description="Ids of the documents to show, best first")
    kept: bool = Field(description="Whether this list was stored for the user and query before")


class ClickEvent(RequestModel):
    """A click."""

    ranking_id: str = Field(max_length=64, examples=[_LIST_ID])
    document_id: CallerId = Field(examples=["d1"])


class EventsRequest(RequestModel):
    """Clicks on interleaved lists."""

    events: list[ClickEvent] = Field(min_length=1, max_length=1_000)


class RecordedEvents(ResponseModel):
    """The number of sent clicks by outcome."""

    model_config = example({"recorded": 1, "repeated": 1, "late": 0, "unknown": 0})

    recorded: int = Field(description="New clicks")
    repeated: int = Field(description="Clicks that had been recorded before")
    late: int = Field(description="Clicks after the window or the expiry of the list, which do not count")
    unknown: int = Field(description="Clicks on lists or documents that this interleaving did not show")


class SequentialLook(ResponseModel):
    """The state of a sequential test after a number of decided units."""

    decided: int
    preferring_first: int
    first_share: float
    winning_share: float | None = Field(
        description="Share at which a ranker is concluded to be better; null with too few units, or where"
        " credits are compared"
    )


class PairVerdict(ResponseModel):
    """The comparison of two rankers."""

    first: str
    second: str
    wins: int = Field(description="Lists on which the first has more credit")
    losses: int = Field(description="Lists on which the second has more credit")
    ties: int = Field(description="Lists with a click and equal credit")
    delta: float | None = Field(
        description="(wins + ½ ties) / all − ½; where credits are compared, half their mean difference per"
        " click; null without clicks"
    )
    delta_lower: float | None = Field(
        description="Lower end of the 95% interval of `delta`, by bootstrap over users; null for fewer than"
        " eight users"
    )
    delta_upper: float | None
    decided: int = Field(description="Units that prefer one ranker")
    preferring_first: int
    first_share: float | None = Field(
        description="Share of the decided units that prefer the first; where credits are compared, ½ plus"
        " half their mean difference per click; null without units"
    )
    sign_p: float | None = Field(
        description="p-value of the exact sign test, valid for one fixed sample size; null with"
        " `probabilistic` and `optimised`, which compare credits"
    )
    sequential_p: float = Field(description="Sequential p-value, valid at any number of repeated reads")
    conclusion: Conclusion
    needed: int | None = Field(description="Number of further decided units that an undecided test may need")
    path: list[SequentialLook] = Field(
        description="State of the test after up to 50 numbers of decided units, in their order"
    )


class InterleavingVerdict(ResponseModel):
    """The verdict of an interleaving."""

    model_config = example(
        {
            "sentence": "web:4 is better than web:3, preferred by 61.2% of 340 decided users,"
            " p ≤ 0.012 at any time.",
            "winner": "web:4",
            "lists": 2_100,
            "clicked_lists": 480,
            "waiting_lists": 12,
            "sample_size": 785,
            "pairs": [
                {
                    "first": "web:3",
                    "second": "web:4",
                    "wins": 160,
                    "losses": 250,
                    "ties": 70,
                    "delta": -0.094,
                    "delta_lower": -0.13,
                    "delta_upper": -0.05,
                    "decided": 340,
                    "preferring_first": 132,
                    "first_share": 0.388,
                    "sign_p": 0.0001,
                    "sequential_p": 0.012,
                    "conclusion": "second",
                    "needed": None,
                    "path": [
                        {
                            "decided": 340,
                            "preferring_first": 132,
                            "first_share": 0.388,
                            "winning_share": 0.579,
                        },
                    ],
                }
            ],
        }
    )

    sentence: str
    winner: str | None = Field(description="Ranker that is better than all others; null if there is none")
    lists: int = Field(description="Lists that were shown")
    clicked_lists: int = Field(description="Lists with a click whose window is over")
    waiting_lists: int = Field(description="Lists with a click whose window is open; they do not count yet")
    sample_size: SampleSize
    pairs: list[PairVerdict]
