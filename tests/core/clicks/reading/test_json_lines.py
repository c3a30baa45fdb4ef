"""UBI, Metarank and sessions."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from core.clicks.doctor import examine_log
from core.clicks.reading.times import time_of, times_of
from core.errors import DatasetError
from tests.core.clicks.reading.conftest import Read
from tests.core.clicks.reading.plain import plain

Json = dict[str, Any]


def lines(*values: Json) -> str:
    """Write objects, one a line."""
    return "\n".join(map(json.dumps, values)) + "\n"


def event(action: str, query_id: str | None, document: str | None, rank: int | None, **more: Any) -> Json:
    """Return an event of UBI."""
    attributes: Json = {}
    if document is not None:
        attributes["object"] = {"object_id": document, "object_id_field": "sku"}
    if rank is not None:
        attributes["position"] = {"ordinal": rank}
    return {"action_name": action, "query_id": query_id, "event_attributes": attributes, **more}


def ubi_sample() -> list[Json]:
    """Return events with the irregularities of the sample of opensearch-project/search-relevance.

    At commit d8be5d1, its file `src/test/data-esci/ubi_queries_events.ndjson` has 278 lists of 2,336
    impressions: 222 ordinals of 0 beside 478 of 1, with click rates of .11 and .29; 15 actions beside
    impressions; 40 of 287 clicks without an impression of their query and document; 87 rows of lists
    without a query; 1,044 events without user_query, of which 98 get it by query_id.
    """
    return [
        {"index": {"_index": "ubi_queries", "_id": "1"}},
        {"query_id": "1", "user_query": "shoes", "client_id": "ann", "timestamp": "2024-12-10T00:01:29.378Z"},
        {"query_id": "2", "user_query": "hats", "client_id": "bob", "timestamp": "2024-12-10T00:02:00Z"},
        {"query_id": "3", "user_query": "bags", "query_response_hit_ids": ["x", "y"], "client_id": "ann"},
        event("impression", "1", "a", 0, user_query="shoes"),
        event("impression", "1", "b", 1, user_query="shoes"),
        event("click", "1", "b", 1),  # joined by query_id
        event("click", "1", "z", 4),  # never shown
        event("impression", "2", "c", 1, user_query="hats"),
        event("impression", "2", "d", 2, user_query="hats"),
        event("click", "2", "c", 1, user_query="hats"),
        event("impression", "9", "e", 0),  # of no known query
        event("purchase", "2", "c", None, user_query="hats"),
        event("page_exit", "2", None, None, user_query="hats"),
        event("click", "3", "y", 1, user_query="bags"),
    ]


def test_irregular_events_of_ubi_are_counted(read: Read) -> None:
    """Mixed rank bases, clicks without impression, joined queries and actions without weight are counted."""
    reading = read(lines(*ubi_sample()))
    report = reading.report
    assert (report.format, report.rank_base, report.rank_base_detected) == ("ubi", 0, True)
    assert (report.events_at_rank_0, report.events_at_rank_1) == (2, 5)
    assert (report.lists_from_0, report.lists_from_1) == (1, 1)
    # z was never shown; y is in the results of a search without impressions, so that its click counts.
    assert (report.orphaned_actions.count, report.weighted_actions) == (1, 4)
    assert report.orphaned_actions.names == ["shoes: z"]
    assert (report.events_without_query, report.joined_events, report.rows_without_query.count) == (3, 2, 1)
    found = {finding.code: finding for finding in examine_log(reading.log, report)}
    assert found["mixed-rank-bases"].title == "1 of 2 lists begins at rank 1, but other rows have rank 0"
    assert found["actions-without-impression"].title == (
        "1 of 4 weighted actions is on a document that its list did not show"
    )
    assert found["actions-without-weight"].title == (
        "2 of 3 actions other than impressions have no weight and are left out"
    )
    assert found["queries-joined"].count == 3


def test_ubi_becomes_lists_by_query_id(read: Read) -> None:
    """A query without impressions gets the documents of its search results; ranks begin at 1."""
    log = read(lines(*ubi_sample()), actions={"click": 1, "purchase": 5}).log
    assert plain(log) == [
        ("shoes", [("a", 1, False), ("b", 2, True)]),
        ("hats", [("c", 2, True), ("d", 3, False)]),
        ("bags", [("x", 1, False), ("y", 2, True)]),
    ]
    np.testing.assert_array_equal(log.gains, [0, 1, 6, 0, 0, 1])
    assert log.list_users is not None
    assert log.list_users.tolist() == [0, 1, 0]


def test_exported_hits_of_ubi_are_read(read: Read) -> None:
    """A line of elasticdump has the document in `_source`."""
    documents = [value for value in ubi_sample() if "index" not in value]
    hits = [
        {"_index": "ubi_events", "_id": str(index), "_source": one} for index, one in enumerate(documents)
    ]
    reading = read(lines(*hits))
    assert reading.report.format == "ubi"
    assert plain(reading.log) == plain(read(lines(*documents)).log)


@pytest.mark.parametrize("query_id", [None, ""])
def test_events_of_ubi_without_a_query_are_counted(read: Read, query_id: str | None) -> None:
    """Users also click outside of searches, such as on recommendations."""
    outside = [event(action, query_id, "a", 1) for action in ("impression", "click", "hover")]
    reading = read(lines(*ubi_sample(), *outside, {"action_name": "click"}))
    assert plain(reading.log) == plain(read(lines(*ubi_sample())).log)
    assert reading.report.without_list == 3


def test_queries_and_events_of_ubi_may_be_two_files(read: Read) -> None:
    """The file of queries may be read before or after the file of events."""
    sample = ubi_sample()
    queries = [value for value in sample if "action_name" not in value]
    events = [value for value in sample if "action_name" in value]
    whole = plain(read(lines(*sample)).log)
    assert plain(read(lines(*queries), lines(*events)).log) == whole
    assert plain(read(lines(*events), lines(*queries)).log) == [whole[0], whole[1], whole[2]]


def test_repeated_search_hits_are_counted_among_all_hits(read: Read) -> None:
    """A query that was sent twice repeats its hits; those of the first remain."""
    query = {"query_id": "3", "user_query": "bags", "query_response_hit_ids": ["x", "y"]}
    reading = read(lines(query, query, event("click", "3", "y", 2)))
    findings = {finding.code: finding for finding in examine_log(reading.log, reading.report)}
    assert findings["repeated-impressions"].title.startswith("2 of 5 rows repeat a document of their list")


def test_events_without_any_query_name_the_file_of_queries(read: Read) -> None:
    """Only UBI's queries have the texts that belong to the query ids of such events."""
    with pytest.raises(DatasetError, match="file `queries`, on the command line by `--queries`"):
        read(lines(event("impression", "1", "a", 1), event("click", "1", "a", 1)))


def test_the_format_of_long_lines_is_detected(read: Read) -> None:
    """The first list may be longer than the sample of a table's header."""
    documents = [f"document {number:060d}" for number in range(2_000)]
    assert read(lines({"query": "shoes", "documents": documents})).log.n_impressions == 2_000


def test_sessions_are_lists(read: Read) -> None:
    """Documents are ids or objects; those without ranks are ranked by their order."""
    text = lines(
        {"query": "shoes", "documents": ["a", "b"], "clicks": ["b"], "user": "ann", "time": 1_777_593_600},
        {"query": "shoes", "documents": [{"id": "b", "rank": 1, "click": True}, {"id": 7, "rank": 3}]},
        {"documents": [{"id": "a", "actions": ["purchase"]}]},
    )
    reading = read(text, actions={"click": 1, "purchase": 5})
    assert plain(reading.log) == [
        ("shoes", [("a", 1, False), ("b", 2, True)]),
        ("shoes", [("b", 1, True), ("7", 3, False)]),
        ("all", [("a", 1, True)]),
    ]
    np.testing.assert_array_equal(reading.log.gains, [0, 1, 1, 0, 5])
    assert reading.report.format == "sessions"


def test_ids_of_json_are_those_of_datasets(read: Read) -> None:
    """`7`, `7.0` and the texts of both are one id of a document or query."""
    text = lines(
        {"query": 5.0, "documents": [7, 8.0], "clicks": ["7.0", 8]},
        {"query": "5", "documents": ["7", {"id": 8.0}]},
    )
    assert plain(read(text).log) == [
        ("5", [("7", 1, True), ("8", 2, True)]),
        ("5", [("7", 1, False), ("8", 2, False)]),
    ]


def test_a_search_without_results_is_left_out(read: Read) -> None:
    """Each format with lists has searches that found nothing."""
    found = {"query": "shoes", "documents": ["a"]}
    assert plain(read(lines({"query": "hats", "documents": []}, found)).log) == plain(read(lines(found)).log)


def test_an_empty_user_is_unknown(read: Read) -> None:
    """Lists of empty users are those of separate users; an empty version is none."""
    users = ({"user": "", "version": ""}, {"user": " "}, {"user": "ann"}, {"user": "ann"})
    log = read(lines(*({"query": "shoes", "documents": ["a"], **user} for user in users))).log
    assert log.list_users is not None
    assert len(set(log.list_users.tolist())) == 3
    assert log.list_users[2] == log.list_users[3]
    assert log.versions is None
    rankings = [
        {"event": "ranking", "id": str(index), "items": [{"id": "a"}], "user": "", "session": session}
        for index, session in enumerate(["s", "t", "s"])
    ]
    log = read(lines(*rankings)).log
    assert log.list_users is not None
    assert log.list_users.tolist() == [0, 1, 0]
    assert read(lines(*queries_without_a_user())).log.list_users is None


def queries_without_a_user() -> list[dict[str, object]]:
    """Return queries of UBI with an empty client."""
    return [
        {"query_id": str(index), "user_query": "shoes", "query_response_hit_ids": ["a"], "client_id": ""}
        for index in range(2)
    ]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ('[\n {"query_id": "1"}\n]', r"an array; .* jq -c '\.\[\]'$"),
        ('{"hits": {"hits": []}}', "'.hits.hits"),
    ],
)
def test_json_that_is_not_in_lines_is_refused_with_a_command(read: Read, text: str, advice: str) -> None:
    """Exports of search engines are arrays or responses of searches."""
    with pytest.raises(DatasetError, match=advice):
        read(text)


def test_clicks_on_hits_of_a_later_page_are_reported(read: Read) -> None:
    """UBI's queries list the hits of one response, so that hits of the second page have the ranks 1, 2, ….

    A click of the same rank in the other base is no such click.
    """
    first = {"query_id": "1", "user_query": "shoes", "query_response_hit_ids": ["a", "b"]}
    second = {"query_id": "2", "user_query": "shoes", "query_response_hit_ids": ["c", "d"]}
    clicks = [event("click", "1", "b", 2), event("click", "2", "d", 12), event("click", "2", "c", None)]
    reading = read(lines(first, second, *clicks))
    assert reading.report.moved_actions.names == ["shoes: d"]
    (finding,) = [
        each for each in examine_log(reading.log, reading.report) if each.code == "actions-at-other-ranks"
    ]
    assert finding.title == "1 of 3 weighted actions has another rank than the impression of its document"
    from_0 = [event("click", "1", "b", 1), event("click", "2", "c", 0)]
    assert read(lines(first, second, *from_0)).report.moved_actions.count == 0


def test_a_time_of_an_object_is_exact_to_the_millisecond() -> None:
    """An object and a cell of a table with the same text have the same time."""
    texts = [
        "1978-09-02T20:53:17.821Z",
        "1974-04-30T19:46:06.619+00:00",
        "2004-08-02T07:40:08.985123Z",
        "1969-12-31T23:59:58.000100Z",
        "2026-05-01 10:00:00 UTC",
        "2026-05-01 10:00:00.985123 UTC",
        "2026-05-01 10:00:00.985 GMT",
        "2026-05-01t10:00:00z",
        "2026-05-01 12:00:00.985 +0200",
    ]
    assert [time_of(text) for text in texts[-2:]] == [1_777_629_600_000, 1_777_629_600_985]
    assert [time_of(text) for text in texts] == times_of(pa.array(texts))[0].tolist()
    assert time_of("2026-05-01 +0500") is None  # a date has no offset


@pytest.mark.parametrize("unit", [1, 1_000, 1_000_000, 1_000_000_000])
def test_a_number_is_a_time_in_any_usual_unit(unit: int) -> None:
    """GA4 and Snowplow export microseconds, and data frames nanoseconds."""
    numbers = [seconds * unit for seconds in (1_733_788_889, 200_000_000, 1_777_593_600)]
    expected = [1_733_788_889_000, 200_000_000_000, 1_777_593_600_000]
    assert [time_of(number) for number in numbers] == expected
    assert times_of(pa.array(numbers, pa.int64()))[0].tolist() == expected
    assert times_of(pa.array([str(number) for number in numbers]))[0].tolist() == expected


_DATES = {
    20260501: "2026-05-01",
    20240229: "2024-02-29",
    202605011030: "2026-05-01T10:30:00",
    20260501103000: "2026-05-01T10:30:00",
}


def _times(read: Read, times: list[Any]) -> list[int]:
    """Return the times of lists, after a check that JSON lines and a table have the same."""
    rows = "".join(f"q,a,1,0,{number},{time}\n" for number, time in enumerate(times))
    logs = [
        read(lines(*({"documents": ["a"], "time": time} for time in times))).log,
        read(f"query,document,rank,click,list,time\n{rows}").log,
    ]
    of_lines, of_table = ([] if log.list_times is None else [*map(int, log.list_times)] for log in logs)
    assert of_lines == of_table
    return of_lines


def test_a_whole_number_may_be_a_date(read: Read) -> None:
    """A day as YYYYMMDD is no number of seconds, which would be in August 1970; an invalid day is.

    A minute as YYYYMMDDhhmm is no number of milliseconds, which would be in 1976.
    """
    expected = [*map(time_of, _DATES.values()), 20_260_229_000, 0]
    assert _times(read, [*_DATES, 20260229, 0]) == expected
    assert _times(read, [*map(str, _DATES), "20260229", 0]) == expected
    assert _times(read, [*_DATES, "2026-05-01"])[-1] == expected[0]
    assert _times(read, [20260501, 0, 0, 0]) == [expected[0], 0, 0, 0]  # times of 0 may be missing
    assert _times(read, [20260501, 20260502, 21000101])[-1] == 21_000_101_000
    assert _times(read, [202605011030, 202605012459, 202605011031])[1] == 202_605_012_459


@pytest.mark.parametrize("others", [[19_000_000], [20_500_101.5], [20_501_240, 20_501_241], [-5]])
def test_numbers_among_relative_times_are_no_dates(read: Read, others: list[float]) -> None:
    """In a log of seconds since its start, a number that could be a date is no date."""
    assert _times(read, [20_501_231, *others]) == [int(time * 1000) for time in (20_501_231, *others)]


@pytest.mark.parametrize("time", [pytest.param(10**400, id="huge"), 1e300, "yesterday", True])
def test_an_invalid_time_is_unknown(read: Read, time: object) -> None:
    """Such a list has no time, and the log no column of times."""
    assert read(lines({"documents": ["a"], "time": time})).log.list_times is None


@pytest.mark.parametrize("base", [0, 1])
def test_documents_without_ranks_begin_at_rank_1_at_any_base(read: Read, base: int) -> None:
    """The base describes ranks in the file, not the order of documents."""
    sessions = lines({"documents": ["a", "b"]}, {"documents": [{"id": "a", "rank": base}]})
    ranking = lines({"event": "ranking", "id": "r", "items": [{"id": "a"}, {"id": "b"}]})
    ordered = ("all", [("a", 1, False), ("b", 2, False)])
    assert plain(read(sessions, rank_base=base).log) == [ordered, ("all", [("a", 1, False)])]
    assert plain(read(ranking, rank_base=base).log) == [ordered]


def test_a_rank_may_be_a_text(read: Read) -> None:
    """OpenSearch indexes `"2"` as a number, and returns it as it was sent."""
    text = lines(*ubi_sample())
    texts = text.replace('"ordinal": 1', '"ordinal": "1"').replace('"ordinal": 0', '"ordinal": "0"')
    assert texts != text
    assert plain(read(texts).log) == plain(read(text).log)


@pytest.mark.parametrize("team", ["32768", 32_768, -40_000, 0.5, "a"])
def test_teams_of_sessions_are_small_whole_numbers(read: Read, team: object) -> None:
    """A fraction, or a number beyond 16 bits, is refused by its line."""
    wrong = lines({"documents": ["a"]}, {"documents": [{"id": "a", "team": team}]})
    with pytest.raises(DatasetError, match="expected a whole number in 'team', below 32,768, but") as error:
        read(wrong, format="sessions")
    assert error.value.problems[0].line == 2


@pytest.mark.parametrize("wrong", [True, {"id": "b"}, ["b"], None, ""])
def test_lists_of_ids_and_names_hold_texts_or_numbers(read: Read, wrong: object) -> None:
    """Numbers are ids; other values are refused by their line and place, never converted to text."""
    clicked = read(lines({"documents": [7, 8], "clicks": [8]})).log
    assert plain(clicked) == [("all", [("7", 1, False), ("8", 2, True)])]
    hits = "query_response_hit_ids"
    for name, value in (
        ("clicks", {"documents": ["a", "b"], "clicks": ["b", wrong]}),
        ("actions", {"documents": [{"id": "a", "actions": ["click", wrong]}]}),
        (hits, {"query_id": "q", "user_query": "x", hits: ["a", wrong]}),
    ):
        with pytest.raises(DatasetError, match=rf"line 1: expected .* in '{name}', but entry 2 is ") as error:
            read(lines(value))
        assert error.value.problems[0].line == 1


def test_times_of_some_lists_are_left_out_with_a_finding(read: Read) -> None:
    """A list with an invalid time has none; a finding reports that, as the period of the log is unknown."""
    sessions: list[Json] = [{"documents": ["a"], "time": "2026-05-01"}, {"documents": ["b"], "time": "May"}]
    reading = read(lines(*sessions, *sessions[:1]))
    assert reading.log.list_times is None
    found = {finding.code: finding for finding in examine_log(reading.log, reading.report)}
    assert found["partial-times"].title == "1 of 3 lists has no time, so that all times are left out"
    complete = read(lines(*sessions[:1]))
    assert complete.log.list_times is not None
    assert complete.report.lists_without_time == 0


@pytest.mark.parametrize("click", ["false", [], {}])
def test_the_click_of_a_document_is_a_boolean_or_a_number(read: Read, click: object) -> None:
    """The text "false" is no click."""
    with pytest.raises(DatasetError, match="expected true, false or a number in 'click', but found"):
        read(lines({"documents": [{"id": "a", "click": click}]}))


@pytest.mark.parametrize(
    "session", [{"query": "x\ud83d", "documents": ["a"]}, {"documents": [{"id": "\udc00", "click": True}]}]
)
def test_half_of_a_surrogate_pair_is_refused_with_its_line(read: Read, session: Json) -> None:
    """JavaScript writes it where it cuts a text within an emoji; UTF-8 cannot encode it."""
    with pytest.raises(DatasetError, match=r"line 2: expected Unicode, but found half of a surrogate pair"):
        read(lines({"documents": ["a"]}, session))


def test_the_query_of_a_session_is_a_text_or_a_number(read: Read) -> None:
    """Sessions with another value would all be lists of one query."""
    with pytest.raises(DatasetError, match=r"expected the text of a query in 'query', but found \{"):
        read(lines({"query": {"text": "shoes"}, "documents": ["a"]}))


def test_metarank_joins_interactions_with_rankings(read: Read) -> None:
    """An interaction is joined by the ranking's id, also if it comes first; metadata of items is skipped."""
    ranking = {"event": "ranking", "id": "r1", "timestamp": "1777593600000", "user": "u", "session": "s"}
    ranking["fields"] = [{"name": "query", "value": "shoes"}]  # type: ignore[assignment]
    ranking["items"] = [{"id": "a"}, {"id": "b", "relevancy": 0.5}]  # type: ignore[assignment]
    click = {"event": "interaction", "id": "i1", "ranking": "r1", "type": "click", "item": "b"}
    item = {"event": "item", "id": "e", "item": "a", "fields": []}
    stray = {"event": "interaction", "id": "i2", "type": "click", "item": "b"}
    reading = read(lines(item, click, ranking, stray))
    assert plain(reading.log) == [("shoes", [("a", 1, False), ("b", 2, True)])]
    assert reading.report.without_list == 1
    assert reading.log.list_times is not None
    assert reading.log.list_times.tolist() == [1777593600000]


def test_json_that_is_nested_too_deeply_is_named(read: Read) -> None:
    """The format is detected from other lines."""
    with pytest.raises(DatasetError, match=r"line 1: .*it is nested too deeply"):
        read('{"user_query":' + "[" * 100_000 + "\n" + lines(*ubi_sample()))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"action_name": "click"', "expected a JSON object, but found"),
        ("[1]", "expected a JSON object, but found '\\[1\\]'"),
        ('{"user_query": "shoes", "query_id": null}', "expected the id of a query in 'query_id'"),
        ('{"what": 1}', "expected action_name or query_id, but found what"),
        (json.dumps(event("click", "1", "a", 1) | {"event_attributes": 3}), "expected an object"),
        (json.dumps(event("click", "1", "a", 1.5)), "expected a whole number in 'ordinal'"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_line_is_named(read: Read, line: str, message: str) -> None:
    """The error names file and line, and the value that was expected."""
    with pytest.raises(DatasetError, match=message) as error:
        read(lines(*ubi_sample()[:4]) + "\n" + line + "\n" + lines(*ubi_sample()[4:]), format="ubi")
    (problem,) = error.value.problems
    assert (problem.file, problem.line) == ("log-1", 6)
