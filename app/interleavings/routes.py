"""Routes of interleavings."""

from datetime import timedelta
from typing import Annotated

from fastapi import Body, status
from fastapi.responses import JSONResponse
from starlette.responses import Response

from app.http.caller import UseCaller
from app.http.idempotency import UseIdempotency
from app.http.labels import ProjectFilter
from app.http.lists import ListQuery, Prefix, SelectedFields, list_query
from app.http.openapi import body_problems, etag_responses, problems
from app.http.route import JsonRoute, Router
from app.http.services import UseServices
from app.interleavings import schemas
from app.served.routes import UseListWriter
from core.errors import InvalidInput, NotFound
from core.interleaving import SequentialRule, check_rankers, sample_size
from core.interleaving.gate import verdict_of_lists
from core.store import Transaction
from core.store.clock import utc_now
from core.store.repositories.interleavings import Interleavings
from core.store.tables import Interleaving as InterleavingRow
from core.store.tables import ShownList as ShownListRow

router = Router(prefix="/v1/interleavings", tags=["interleavings"], route_class=JsonRoute)

_Listing = Annotated[ListQuery, list_query(schemas.Interleaving, Interleavings.columns)]


@router.post(
    "",
    summary="Create an interleaving",
    status_code=status.HTTP_201_CREATED,
    response_model=schemas.Interleaving,
    responses=body_problems(404),
)
def create_interleaving(
    body: Annotated[schemas.InterleavingRequest, Body(openapi_examples=schemas.CREATE_EXAMPLES)],
    services: UseServices,
    caller: UseCaller,
    idempotency: UseIdempotency,
) -> Response:
    """Create an interleaving: compare two or more rankers by the clicks on interleaved lists.

    Give `models`, or `rankings` for rankings that you make. Request a list for each query of a user, show the
    list, and send the clicks. The verdict may be read at any time.
    """
    if (body.models is None) == (body.rankings is None):
        raise InvalidInput.at("/models", "must be given unless rankings is given; send only one of them")
    names = body.models or body.rankings or []
    check_rankers(body.method, len(names))
    with idempotency.begin(services.store) as tx:
        models = None if body.models is None else [tx.models.resolve(reference) for reference in body.models]
        rankers = names if models is None else [model.reference for model in models]
        if len(set(rankers)) < len(rankers):
            pointer = "/models" if models is not None else "/rankings"
            raise InvalidInput.at(pointer, "the rankers must be different")
        row = tx.interleavings.add(
            name=body.name,
            rankers=list(rankers),
            model_ids=None if models is None else [model.id for model in models],
            rule={"error": body.error, "miss": body.miss, "difference": body.difference},
            key_id=caller.key_id,
            project=tx.projects.for_new_object(body.project),
            **body.model_dump(include={"method", "length", "seed", "unit", "click_window_seconds"}),
        )
        created = schemas.Interleaving.of(row).model_dump(mode="json")
        location = {"Location": f"/v1/interleavings/{row.id}"}
        return idempotency.keep(tx, JSONResponse(created, status.HTTP_201_CREATED, location))


@router.get("", summary="List interleavings", responses=etag_responses(422))
def list_interleavings(
    services: UseServices, listing: _Listing, project: ProjectFilter = None, prefix: Prefix = None
) -> schemas.InterleavingPage | SelectedFields:
    """List interleavings, newest first by default."""
    with services.store.read() as tx:
        page = tx.interleavings.page(project=project, prefix=prefix, **listing.paging)
        items = [schemas.Interleaving.of(row) for row in page.items]
    return listing.page(schemas.InterleavingPage, items, page.next_cursor)


@router.get("/{interleaving_id}", summary="Show an interleaving", responses=etag_responses(404))
def get_interleaving(interleaving_id: str, services: UseServices) -> schemas.Interleaving:
    """Show an interleaving."""
    with services.store.read() as tx:
        return schemas.Interleaving.of(tx.interleavings.get(interleaving_id))


@router.delete(
    "/{interleaving_id}", summary="Delete an interleaving", status_code=204, responses=problems(404)
)
def delete_interleaving(interleaving_id: str, services: UseServices) -> None:
    """Delete an interleaving with its lists and clicks, permanently."""
    with services.store.begin() as tx:
        tx.interleavings.delete(interleaving_id)


@router.post("/{interleaving_id}/events", summary="Send clicks", responses=body_problems(404))
def send_events(
    interleaving_id: str,
    body: Annotated[schemas.EventsRequest, Body(openapi_examples=schemas.EVENT_EXAMPLES)],
    services: UseServices,
    writer: UseListWriter,
) -> schemas.RecordedEvents:
    """Record clicks on lists; a click that is sent again changes nothing."""
    clicked: dict[str, list[str]] = {}
    for event in body.events:
        clicked.setdefault(event.ranking_id, []).append(event.document_id)
    counts = {"recorded": 0, "repeated": 0, "late": 0, "unknown": 0}
    writer.flush(list(clicked))
    with services.store.begin() as tx:
        tx.notifies_clients = False
        row = tx.interleavings.get(interleaving_id)
        for list_id, documents in sorted(clicked.items()):
            _record(tx, row, list_id, documents, counts)
    return schemas.RecordedEvents(**counts)


def _record(
    tx: Transaction, row: InterleavingRow, list_id: str, documents: list[str], counts: dict[str, int]
) -> None:
    try:
        shown = tx.interleavings.shown_list(row.id, list_id)
    except NotFound:
        counts["unknown"] += len(documents)
        return
    if shown.expired or _is_late(row, shown):
        counts["late"] += len(documents)
        return
    ids: list[str] = shown.content["documents"]
    positions = [ids.index(document) for document in documents if document in ids]
    recorded = tx.interleavings.record_clicks(shown, positions)
    counts["recorded"] += recorded
    counts["repeated"] += len(positions) - recorded
    counts["unknown"] += len(documents) - len(positions)


def _is_late(row: InterleavingRow, shown: ShownListRow) -> bool:
    window = timedelta(seconds=row.click_window_seconds)
    return bool(window) and utc_now() > shown.created_at + window


@router.get(
    "/{interleaving_id}/verdict", summary="Show the verdict of an interleaving", responses=etag_responses(404)
)
def get_verdict(
    interleaving_id: str, services: UseServices, writer: UseListWriter
) -> schemas.InterleavingVerdict:
    """Show which ranker users prefer; repeated reads do not raise the error probability."""
    writer.flush()
    with services.store.read() as tx:
        row = tx.interleavings.get(interleaving_id)
        until = utc_now() - timedelta(seconds=row.click_window_seconds)
        list_credits = tx.interleavings.credits(row.id, until)
        counts = tx.interleavings.counts(row.id)
    verdict = verdict_of_lists(row.method, row.rankers, list_credits, row.rule, row.unit, row.seed)  # type: ignore[arg-type]
    return schemas.InterleavingVerdict(
        sentence=verdict.sentence,
        winner=verdict.winner,
        lists=counts.lists,
        clicked_lists=verdict.clicked_lists,
        waiting_lists=counts.clicked - verdict.clicked_lists,
        sample_size=sample_size(SequentialRule(**row.rule).of_each_pair(len(row.rankers))),
        pairs=[schemas.PairVerdict.model_validate(pair) for pair in verdict.pairs],
    )
