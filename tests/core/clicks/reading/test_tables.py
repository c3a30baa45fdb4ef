"""Long tables: columns, lists, ranks, actions and problems by line."""

import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.clicks.doctor import examine_log
from core.clicks.reading import LogFile, read_click_log, spool
from core.clicks.reading.codes import IdCodes
from core.errors import DatasetError, InvalidInput
from rankery.identifiers import normalise_ids
from tests.core.clicks.reading.conftest import Read
from tests.core.clicks.reading.plain import plain, reference_lists

TABLE = "session,query,document,rank,clicked\ns1,shoes,a,1,0\ns1,shoes,b,2,1\ns2,hats,c,1,1\n"
LISTS = [("shoes", [("a", 1, False), ("b", 2, True)]), ("hats", [("c", 1, True)])]


@pytest.mark.parametrize("base", [0, 1])
def test_a_scattered_table_is_read_as_by_the_reference(
    tmp_path: Path, base: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lists have the order of their first rows across many parts on disk; a document counts once per list."""
    monkeypatch.setattr(spool, "LISTS_PER_PART", 7)
    monkeypatch.setattr("core.clicks.reading.assembly.LISTS_PER_PART", 7)
    draw = random.Random(base)
    rows = [
        {
            "list": f"s{number}",
            "query": f"q{number % 9}",
            "document": f"d{draw.randrange(12)}",
            "rank": draw.randrange(base, 40),
            "click": draw.randrange(2),
        }
        for number in draw.choices(range(60), k=700)
    ]
    rows[0]["rank"] = base
    path = tmp_path / "log.csv"
    names = list(rows[0])
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row.values())) for row in rows)]))
    folder = tmp_path / "columns"
    folder.mkdir()
    reading = read_click_log([LogFile(path, "log.csv")], folder)
    assert plain(reading.log) == reference_lists(rows)
    assert reading.report.repeated_impressions.count == 700 - reading.log.n_impressions
    assert (reading.report.rank_base, reading.report.rank_base_detected) == (base, True)


def test_all_forms_of_a_table_are_the_same_log(read: Read) -> None:
    """CSV, TSV and Parquet give the same log; columns are found by usual names, or named."""
    assert plain(read(TABLE).log) == LISTS
    assert plain(read(TABLE.replace(",", "\t")).log) == LISTS
    header, *rows = TABLE.splitlines()
    columns = zip(*(row.split(",") for row in rows), strict=True)
    table = pa.table(dict(zip(header.split(","), map(list, columns), strict=True)))
    stream = io.BytesIO()
    pq.write_table(table, stream)
    assert plain(read(stream.getvalue()).log) == LISTS
    renamed = TABLE.replace("document", "sku").replace("rank", "place")
    assert plain(read(renamed, columns={"document": "sku", "rank": "place"}).log) == LISTS


def test_lists_without_a_name_begin_where_the_query_changes_or_ranks_fall(read: Read) -> None:
    """A list also begins where the user changes, and in each file; without ranks, rows are in rank order."""
    rows = "query,document,rank,click,user\nq,a,1,0,\nq,b,2,0,\nq,b,1,1,\nr,a,5,0,u\nr,b,6,0,v\n"
    log = read(rows, "query,document,rank,click,user\nr,b,7,0,v\nr,c,8,1,v\n").log
    assert [len(shown) for _, shown in plain(log)] == [2, 1, 1, 1, 2]
    for base in (None, 0, 1):
        unranked = read("list,query,document,click\ns,q,a,0\nt,q,b,1\ns,q,c,1\n", rank_base=base).log
        assert plain(unranked) == [("q", [("a", 1, False), ("c", 2, True)]), ("q", [("b", 1, True)])]


def test_only_impressions_with_a_rank_begin_a_list(read: Read) -> None:
    """Without a column of lists, an action belongs to the list above, also at the start of a second block."""
    header = "query,document,rank,action,user"
    shown = ["q,a,1,view,u", "q,b,2,view,u"]
    actions = ["q,b,2,click,u", "q,a,,click,u", "q,a,1,hover,u", "q,x,,view,u", "q,y,-1,view,u"]
    rows = [*shown, *actions, "q,c,3,view,u", *reversed(actions), *shown, "r,c,3,click,u", "r,c,3,view,u"]
    expected = [
        ("q", [("a", 1, True), ("b", 2, True), ("c", 3, False)]),
        ("q", [("a", 1, False), ("b", 2, False)]),
        ("r", [("c", 3, True)]),
    ]
    assert plain(read("\n".join([header, *rows])).log) == expected
    many = "\n".join([header, *shown * 40_000, *actions])
    *earlier, last = plain(read(many).log)
    assert (len(earlier), last) == (39_999, ("q", [("a", 1, True), ("b", 2, True)]))


def test_a_rank_below_0_does_not_move_the_base_of_ranks(read: Read) -> None:
    """Such a rank marks an unknown position; the impression is left out, and the others keep their ranks."""
    reading = read(TABLE + "s2,hats,d,-1,0\n")
    assert plain(reading.log) == LISTS
    assert (reading.report.rank_base, reading.report.unranked.count) == (1, 1)


def test_a_list_with_several_queries_is_a_list_for_each(read: Read) -> None:
    """The id of a session may cover several searches; rows without a query belong to its first one."""
    header = "session,query,document,rank,clicked"
    rows = ["s,shoes,a,1,0", "s,shoes,b,2,1", "s,hats,c,1,0", "s,,a,,1", "t,hats,c,1,1", "s,hats,d,2,1"]
    expected = [
        ("hats", [("c", 1, False), ("d", 2, True)]),
        ("hats", [("c", 1, True)]),
        ("shoes", [("a", 1, True), ("b", 2, True)]),
    ]
    for cut in (0, 3):
        parts = ["\n".join([header, *part]) for part in (rows[:cut], rows[cut:]) if part]
        assert sorted(plain(read(*parts).log)) == expected


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_the_first_rows_of_a_list_may_lack_the_query(read: Read, cut: int) -> None:
    """A click without the query before the impressions belongs to their list; cuts are between files."""
    rows = ["s,,b,,1", "s,,c,3,0", "s,shoes,a,1,0", "s,shoes,b,2,0", "t,,a,1,1"]
    parts = [part for part in (rows[:cut], rows[cut:]) if part]
    log = read(*("\n".join(["session,query,document,rank,clicked", *part]) for part in parts)).log
    shoes = [("a", 1, False), ("b", 2, True), ("c", 3, False)]
    assert sorted(plain(log)) == [("", [("a", 1, True)]), ("shoes", shoes)]


def test_actions_take_no_rank_in_a_table_without_ranks(read: Read) -> None:
    """Only impressions are numbered, also where actions lie between them."""
    rows = ["s,q,a,view", "s,q,a,click", "s,q,a,hover", "s,q,b,view", "s,q,b,click", "s,q,c,view"]
    log = read("\n".join(["list,query,document,action", *rows])).log
    assert plain(log) == [("q", [("a", 1, True), ("b", 2, True), ("c", 3, False)])]
    late = read("list,query,document,action\ns,q,a,view", "list,query,document,action\ns,q,a,click").log
    assert plain(late) == [("q", [("a", 1, True)])]


def test_actions_are_weighted_and_count_once(read: Read) -> None:
    """Rows of actions are joined with the impression of their list; others are counted and left out."""
    rows = [
        *("s,q,a,1,impression", "s,q,b,2,view", "s,q,a,,purchase", "s,q,a,,click", "s,q,a,,click"),
        *("s,q,b,,hover", "s,q,z,,click"),
    ]
    text = "\n".join(["list,query,document,rank,action", *rows])
    reading = read(text, actions={"click": 1, "purchase": 5})
    np.testing.assert_array_equal(reading.log.gains, [6.0, 0.0])
    np.testing.assert_array_equal(reading.log.clicks, [True, False])
    assert reading.report.rows_by_action["hover"] == 1
    assert (reading.report.orphaned_actions.count, reading.report.orphaned_actions.names) == (1, ["q: z"])


def test_an_action_that_no_row_has_is_not_counted(read: Read) -> None:
    """A table whose only action has another name than click has one action other than impressions."""
    reading = read("list,query,document,rank,action\ns,q,a,1,view\ns,q,b,2,view\ns,q,b,2,buy\n")
    assert reading.report.rows_by_action == {"view": 2, "buy": 1}
    titles = [finding.title for finding in examine_log(reading.log, reading.report)]
    assert "1 of 1 actions other than impressions has no weight and is left out" in titles


def test_lists_keep_time_user_version_propensity_and_team(read: Read) -> None:
    """Users are numbered; a list without a user gets a separate number."""
    header = "list,query,document,rank,click,time,user,version,propensity,team"
    rows = [
        "s,q,a,1,0,2026-05-01T10:00:00Z,ann,v1,0.5,0",
        "s,q,b,2,0,2026-05-01T09:59:59.5Z,ann,v1,0.25,1",
        "t,q,a,1,0,2026-05-02 00:00:00+02:00,,,1,",
        "u,q,a,1,0,2026-05-03T00:00:00Z,ann,v2,1,0",
    ]
    log = read("\n".join([header, *rows])).log
    assert log.list_times is not None
    assert log.list_times.tolist() == [1777629599500, 1777672800000, 1777766400000]
    assert log.list_users is not None
    assert log.list_users.tolist() == [0, 1, 0]
    assert log.list_versions is not None
    assert log.list_versions.tolist() == [0, -1, 1]
    assert list(log.versions or []) == ["v1", "v2"]
    np.testing.assert_array_equal(log.propensities, np.array([0.5, 0.25, 1, 1], np.float32))
    np.testing.assert_array_equal(log.teams, [0, 1, -1, 0])


def test_sums_of_clicks_and_impressions_are_refused(read: Read) -> None:
    """A row of Search Console would count as one impression; a click column that was named is read."""
    sums = "query,page,clicks,impressions,position\nshoes,a,30,100,1\nshoes,b,5,100,2\n"
    with pytest.raises(DatasetError, match="found sums in the columns clicks and impressions; write a row"):
        read(sums, columns={"document": "page"})
    assert read(sums, columns={"document": "page", "click": "clicks"}).log.n_impressions == 2


def test_actions_without_impressions_are_refused_with_advice(read: Read) -> None:
    """The action of impressions has no option, so it is renamed in the file."""
    with pytest.raises(DatasetError, match="found the actions view_item_list, select_item; rename that of"):
        read("session,query,document,action\ns,q,a,view_item_list\ns,q,a,select_item\n")


def test_a_list_has_the_first_user_and_version_of_its_rows(read: Read) -> None:
    """A row without a user or version is skipped; a later row of the list may have one."""
    rows = ["s,q,a,1,0,,", "s,q,b,2,0,ann,", "s,q,c,3,0,bob,v1", "s,q,d,4,0,,v2", "t,q,a,1,0,ann,v2"]
    log = read("\n".join(["list,query,document,rank,click,user,version", *rows])).log
    assert log.list_users is not None
    assert log.list_users.tolist() == [0, 0]
    assert log.list_versions is not None
    assert [(log.versions or [])[version] for version in log.list_versions] == ["v1", "v2"]


@pytest.mark.parametrize("rank", ["", "0", "40000"])
def test_an_impression_without_a_valid_rank_does_not_hide_a_ranked_one(read: Read, rank: str) -> None:
    """A repeated document has the lowest valid rank."""
    rows = [f"s,q,a,{rank},impression", "s,q,b,1,impression", "s,q,a,3,click", "s,q,a,2,impression"]
    reading = read("\n".join(["list,query,document,rank,action", *rows]), rank_base=1)
    assert plain(reading.log) == [("q", [("b", 1, False), ("a", 2, True)])]
    assert (reading.report.repeated_impressions.count, reading.report.unranked.count) == (1, 0)


def test_open_bandit_has_one_impression_per_list(read: Read) -> None:
    """Rows of the Open Bandit dataset do not name the list of an impression, so each is one list."""
    header = ",timestamp,item_id,position,click,propensity_score,user_feature_0\n"
    first = "0,2019-11-24 00:03:13.442536+00:00,14,3,0,0.029411764705882353,cef3\n"
    second = "1,2019-11-24 00:03:36.705207+00:00,10,1,1,0.029411764705882353,cef3\n"
    reading = read(header + first + second)
    assert reading.report.format == "open-bandit"
    assert plain(reading.log) == [("all", [("14", 3, False)]), ("all", [("10", 1, True)])]
    np.testing.assert_array_equal(reading.log.propensities, np.array([1 / 34, 1 / 34], np.float32))


@pytest.mark.parametrize(
    ("wrong", "column", "message"),
    [
        ("s1,shoes,b,second,1", "rank", "a whole number as a rank, but found 'second'"),
        ("s1,shoes,b,1.5,1", "rank", "a whole number as a rank, but found '1.5'"),
        ("s1,shoes,,2,1", "document", "a document id, but the cell is empty"),
        ("s1,shoes,b,2,yes", "clicked", "0, 1 or a number of clicks, but found 'yes'"),
    ],
)
def test_a_wrong_cell_is_named_by_line_and_column(read: Read, wrong: str, column: str, message: str) -> None:
    """The message describes the expected value."""
    with pytest.raises(DatasetError) as error:
        read(TABLE.replace("s1,shoes,b,2,1", wrong))
    (problem,) = error.value.problems
    assert (problem.file, problem.line, problem.column) == ("log-1", 3, column)
    assert message in problem.detail


def test_an_impression_without_a_list_is_refused(read: Read) -> None:
    """Impressions of different searches would be one list; an action without a list is left out."""
    header = "list,query,document,rank,action"
    with pytest.raises(DatasetError, match="expected a list id, but the cell is empty") as error:
        read("\n".join([header, "s,q,a,1,impression", ",q,a,1,view", ",q,b,1,impression"]))
    assert [(problem.line, problem.column) for problem in error.value.problems] == [(3, "list"), (4, "list")]
    reading = read("\n".join([header, "s,q,a,1,impression", ",q,a,,click", " ,q,a,,hover"]))
    assert plain(reading.log) == [("q", [("a", 1, False)])]
    assert reading.report.without_list == 1
    assert reading.report.orphaned_actions.count == 0


def test_propensities_are_probabilities(read: Read) -> None:
    """A propensity of 0, above 1, or absent is refused."""
    rows = "query,document,rank,click,propensity\nq,a,1,0,0.5\nq,b,2,0,0\nq,c,3,0,1.5\nq,d,4,0,\n"
    with pytest.raises(DatasetError) as error:
        read(rows)
    assert [problem.line for problem in error.value.problems] == [3, 4, 5]


def test_teams_are_small_whole_numbers(read: Read) -> None:
    """A fraction, or a number beyond 16 bits, is refused; an empty cell is no team."""
    rows = "query,document,rank,click,team\nq,a,1,0,0\nq,b,2,0,1.5\nq,c,3,0,32768\nq,d,4,0,\nq,e,5,0,inf\n"
    with pytest.raises(DatasetError) as error:
        read(rows)
    assert [(problem.line, problem.column) for problem in error.value.problems] == [
        (3, "team"),
        (4, "team"),
        (6, "team"),
    ]
    assert "expected a whole number below 32,768 as a team, but found '1.5'" in error.value.problems[0].detail


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a click log, but the file is empty"),
        ("query,rank,clicked\nq,1,0\n", "a column for the document"),
        (
            "query,document,rank\nq,a,1\n",
            "a column for the click, such as click or a column for the action, such as action, but found"
            r" query, document, rank; name it in columns\.click or columns\.action",
        ),
        ("PK\x03\x04rest", "a ZIP archive"),
        ("just some words\n", "expected a click log: JSON lines, a table"),
        ("query,document,rank,click\nq,a,-1,0\n", "at least one impression with a query"),
        ("query,document,rank,action\nq,a,1,Shown\nq,a,1,click\n", "found the actions Shown, click"),
    ],
)
def test_content_that_is_no_table_is_refused(read: Read, text: str, message: str) -> None:
    """The message describes the expected content, or the content that was found."""
    with pytest.raises(DatasetError, match=message):
        read(text, rank_base=0)


def test_options_that_do_not_fit_the_file_are_refused(read: Read) -> None:
    """An absent column, clicks without a weight and another format are refused."""
    with pytest.raises(InvalidInput) as missing:
        read(TABLE, columns={"document": "sku"})
    assert missing.value.problems[0].pointer == "/columns/document"
    with pytest.raises(InvalidInput) as unweighted:
        read(TABLE, actions={"purchase": 5})
    assert unweighted.value.problems[0].pointer == "/actions"
    for weight in (-1, 2e9, 10**400, float("nan"), "1"):
        with pytest.raises(InvalidInput, match=r"/actions/click: must be a name.*and a weight from 0 to 1e9"):
            read(TABLE, actions={"click": weight})
    with pytest.raises(InvalidInput, match=r"^/actions/add~1remove: must be a name"):
        read(TABLE, actions={"add/remove": -1})
    with pytest.raises(DatasetError, match="expected sessions, lines of JSON objects, but found a table"):
        read(TABLE, format="sessions")


@given(st.lists(st.text("-+.0178e ", min_size=1, max_size=6), max_size=20))
@example([".0", "-0", "-0.0"])
def test_all_spellings_of_ids_are_normalised(spellings: list[str]) -> None:
    """Texts that need no normalisation by their look have the same ids as by the rule of datasets."""
    codes = IdCodes()
    assert [codes.text(codes.of(each)) for each in spellings] == normalise_ids(spellings).texts.to_pylist()


def test_ids_are_normalised_as_in_datasets(read: Read) -> None:
    """`7` and `7.0` are one id, as pandas writes whole numbers with a point beside missing values."""
    text = "query,document,rank,action\n5.0,7.0,1,impression\n5.0,8.0,2,impression\n5,8,,click\n"
    lists = [("5", [("7", 1, False), ("8", 2, True)])]
    assert plain(read(text).log) == lists


def test_ids_keep_their_blanks(read: Read) -> None:
    """Users type blanks after a query, and datasets and sessions keep them."""
    log = read("query,document,rank,click\nred shoes , a,1,1\nred shoes , b,2,0\n").log
    assert plain(log) == [("red shoes ", [(" a", 1, True), (" b", 2, False)])]


def test_whole_numbers_as_floats_are_ids_without_a_point(read: Read) -> None:
    """Arrow writes large numbers with an exponent; NaN is a missing user, and a fraction is not an id."""
    columns: dict[str, Any] = {
        "query": [5.0, 5.0],
        "document": [4006381333931.0, 7.0],
        "click": [0, 1],
        "user": [float("nan"), float("nan")],
    }
    reading = read(parquet(columns))
    assert plain(reading.log) == [("5", [("4006381333931", 1, False), ("7", 2, True)])]
    assert reading.log.list_users is None
    with pytest.raises(DatasetError, match=r"column document: expected an id, .*, but found '7\.5'"):
        read(parquet(columns | {"document": [7.5, 7.0]}))


def parquet(columns: dict[str, Any]) -> bytes:
    """Write columns as Parquet."""
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()
