"""Malformed files of every format, each with the whole error message."""

import base64
import gzip
import io
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest

from core.data.options import Limits, reading_options
from core.data.parquet_footer import read_footer, renamed_footer
from core.data.reading import JudgedFile, read_file
from core.errors import DatasetError

OK = "0 qid:1 1:1\n"
LIMITS = Limits(unpacked_bytes=10**6)


def _parquet(**columns: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def _inconsistent_parquet() -> bytes:
    """Return a Parquet file whose statistics count nulls of a column that has none by the schema."""
    content, other = io.BytesIO(), io.BytesIO()
    table = pa.table({"label": [1], "qid": ["a"], "x": [1.0]})
    pq.write_table(table, content)
    pq.write_table(table.cast(pa.schema([field.with_nullable(False) for field in table.schema])), other)
    start, metadata = read_footer(content)
    footer = renamed_footer(metadata, read_footer(other)[1], table.column_names)
    return content.getvalue()[:start] + footer


class _Keys(pe.KmsClient):
    """Keys that are stored as they are."""

    def __init__(self, _connection: Any) -> None:
        super().__init__()

    def wrap_key(self, key_bytes: bytes, master_key_identifier: str) -> str:
        """Return the key for the file."""
        return base64.b64encode(key_bytes).decode()


def _partly_encrypted_parquet() -> bytes:
    """Return a Parquet file whose column of queries is encrypted."""
    properties = pe.CryptoFactory(_Keys).file_encryption_properties(
        pe.KmsConnectionConfig(),
        pe.EncryptionConfiguration(
            footer_key="footer",
            column_keys={"column": ["qid"]},
            plaintext_footer=True,
            double_wrapping=False,
        ),
    )
    file, table = io.BytesIO(), pa.table({"label": [1], "qid": ["a"], "x": [1.0]})
    with pq.ParquetWriter(file, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    return file.getvalue()


# Content, options, query file, message. The file is called f and the query file q.
MALFORMED: dict[str, tuple[str | bytes, dict[str, Any], str | None, str]] = {
    "letor label a word": (
        "x qid:1 1:1",
        {},
        None,
        "file f, line 1, column 1: expected a label, a number such as 2, but found 'x'",
    ),
    "letor label with a comma": (
        OK + "\n  1,5 qid:1 1:1",
        {},
        None,
        "file f, line 3, column 3: expected a label, a number such as 2, but found '1,5'",
    ),
    "letor label missing": (
        "qid:1 1:1",
        {},
        None,
        "file f, line 1, column 1: expected a label, a number such as 2, but found 'qid:1'",
    ),
    "letor label infinite": (
        "inf qid:1 1:1",
        {},
        None,
        "file f, line 1, column 1: expected a label that is finite in float32, but found 'inf'",
    ),
    "letor label too large": (
        "1e39 qid:1 1:1",
        {},
        None,
        "file f, line 1, column 1: expected a label that is finite in float32, but found '1e39'",
    ),
    "letor no query": (
        OK + "1 1:1 2:2",
        {},
        None,
        "file f, line 2, column 3: expected qid:<query id> after the label, but found '1:1'",
    ),
    "letor query in capitals": (
        OK + "1 QID:1 1:1",
        {},
        None,
        "file f, line 2, column 3: expected qid:<query id> after the label, but found 'QID:1'",
    ),
    "letor query empty": (
        OK + "1 qid: 1:1",
        {},
        None,
        "file f, line 2, column 3: expected a query id after qid:, but found 'qid:'",
    ),
    "letor row ends after the label": (
        OK + "1",
        {},
        None,
        "file f, line 2, column 2: expected qid:<query id> after the label, but found the end of the line",
    ),
    "letor query in the comment": (
        OK + "1 # qid:1",
        {},
        None,
        "file f, line 2, column 3: expected qid:<query id> after the label, but found the end of the line",
    ),
    "letor feature without value": (
        OK + "1 qid:1 1",
        {},
        None,
        "file f, line 2, column 9: expected <feature id>:<value>, but found '1'",
    ),
    "letor feature without id": (
        OK + "1 qid:1 :1",
        {},
        None,
        "file f, line 2, column 9: expected <feature id>:<value>, but found ':1'",
    ),
    "letor feature a name": (
        OK + "1 qid:1 bm25:1",
        {},
        None,
        "file f, line 2, column 9: expected <feature id>:<value>, but found 'bm25:1'",
    ),
    "letor feature negative": (
        OK + "1 qid:1 -1:1",
        {},
        None,
        "file f, line 2, column 9: expected <feature id>:<value>, but found '-1:1'",
    ),
    "letor feature fractional": (
        OK + "1 qid:1 1.5:1",
        {},
        None,
        "file f, line 2, column 9: expected <feature id>:<value>, but found '1.5:1'",
    ),
    "letor feature with equals": (
        OK + "1 qid:1 1=1",
        {},
        None,
        "file f, line 2, column 9: expected <feature id>:<value>, but found '1=1'",
    ),
    "letor feature too large": (
        "1 qid:1 1000001:1",
        {},
        None,
        "file f, line 1, column 9: expected feature ids of at most 100,000, but found '1000001:1'",
    ),
    "letor value empty": (
        OK + "1 qid:1 1:",
        {},
        None,
        "file f, line 2, column 9: expected a number such as 0.5, -2e-3 or nan after the colon, but found '1:'",
    ),
    "letor value with two points": (
        OK + "1 qid:1 1:1.2.3",
        {},
        None,
        "file f, line 2, column 9: expected a number such as 0.5, -2e-3 or nan after the colon, but found '1:1.2.3'",
    ),
    "letor exponent empty": (
        OK + "1 qid:1 1:1e",
        {},
        None,
        "file f, line 2, column 9: expected a number such as 0.5, -2e-3 or nan after the colon, but found '1:1e'",
    ),
    "letor value hexadecimal": (
        OK + "1 qid:1 1:0x1",
        {},
        None,
        "file f, line 2, column 9: expected a number such as 0.5, -2e-3 or nan after the colon, but found '1:0x1'",
    ),
    "letor value none": (
        OK + "1 qid:1 1:none",
        {},
        None,
        "file f, line 2, column 9: expected a number such as 0.5, -2e-3 or nan after the colon, but found '1:none'",
    ),
    "letor value twice": (
        OK + "1 qid:1 1:1:1",
        {},
        None,
        "file f, line 2, column 9: expected a number such as 0.5, -2e-3 or nan after the colon, but found '1:1:1'",
    ),
    "letor value beyond float32": (
        OK + "1 qid:1 1:1e39",
        {},
        None,
        "file f, line 2, column 9: expected a feature value within float32's range of 3.4e38, or inf, but found '1:1e39'",
    ),
    "letor feature repeated": (
        OK + "1 qid:1 1:1 1:2",
        {"repeated_features": "reject"},
        None,
        "file f, line 2, column 13: expected each feature at most once in a row, but found '1:2'",
    ),
    "letor query scattered": (
        OK + "1 qid:2 1:1\n1 qid:1 1:1",
        {"non_contiguous_queries": "error"},
        None,
        "file f, line 3, column 7: expected the rows of query '1' to be contiguous, but found '1'",
    ),
    "letor no feature": (
        "1 qid:1\n",
        {},
        None,
        "file f: expected features such as 1:0.5, but no document has any; write judgments without features as TREC qrels, such as q1 0 d7 2 for query q1, document d7 and label 2",
    ),
    "letor several": (
        "x qid:1 1:1\n" + OK + "1 qid:1 1:y\n",
        {},
        None,
        "file f, line 1, column 1: expected a label, a number such as 2, but found 'x' (and 1 more)",
    ),
    "letor with CRLF": (
        "1\tqid:1\t1:1\r\n1 qid:1 x\r\n",
        {},
        None,
        "file f, line 2, column 9: expected <feature id>:<value>, but found 'x'",
    ),
    "letor behind a byte order mark": (
        "\ufeff1 qid:1 x",
        {},
        None,
        "file f, line 1, column 9: expected <feature id>:<value>, but found 'x'",
    ),
    "letor long token": (
        "1 qid:1 x" + "9" * 60,
        {},
        None,
        "file f, line 1, column 9: expected <feature id>:<value>, but found 'x99999999999999999999999999999999999999…'",
    ),
    "lightgbm without sizes": (
        "1 1:1\n",
        {},
        None,
        "file f: expected qid:<query id> in each row, or a query file with the number of documents of each query, named f.query, but found neither",
    ),
    "lightgbm sizes too many": (
        "1 1:1\n",
        {},
        "2\n",
        "file f: expected 2 documents, the sum of the sizes in the query file, but found 1",
    ),
    "lightgbm sizes too few": (
        "1 1:1\n1 1:2\n",
        {},
        "1\n",
        "file f: expected 1 documents, the sum of the sizes in the query file, but found 2",
    ),
    "lightgbm sizes no numbers": (
        "1 1:1\n",
        {},
        "a\n-1\n",
        "file q, line 1, column 1: expected the number of documents of a query, but found 'a' (and 1 more)",
    ),
    "lightgbm sizes empty": (
        "1 1:1\n",
        {},
        "\n",
        "file q: expected the number of documents of each query, but found none",
    ),
    "lightgbm with a query token": (
        "1 qid:1 1:1\n",
        {"format": "lightgbm"},
        "1\n",
        "file f, line 1, column 3: expected <feature id>:<value>, but found 'qid:1'",
    ),
    "lightgbm table of another length": (
        "1,2,3\n",
        {},
        "2\n",
        "file f: expected 2 documents, the sum of the sizes in the query file, but found 1",
    ),
    "lightgbm table with a word": (
        "1,2,3\n1,b,3\n",
        {},
        "2\n",
        "file f, line 2, column f1: expected a number, but found 'b'; or name 'f1' in columns.ignore",
    ),
    "table without label": (
        "q,x\n1,2\n",
        {"columns": {"query": "q"}},
        None,
        "file f, line 1: expected a column for the label, named label, labels, relevance or set in columns.label, but found only q, x",
    ),
    "table without query": (
        "label,x\n1,2\n",
        {},
        None,
        "file f, line 1: expected a column for the query, named query_id, queryid, qid or set in columns.query, but found only label, x",
    ),
    "table with two labels": (
        "label,grade,qid,x\n1,1,1,1\n",
        {},
        None,
        "file f, line 1: expected one column for the label, but found 'label' and 'grade'; set columns.label",
    ),
    "table column unknown": (
        "label,qid,x\n1,1,1\n",
        {"columns": {"document": "id"}},
        None,
        "file f, line 1: expected the column 'id' of columns.document, but found only label, qid, x",
    ),
    "table columns of one name": (
        "label,qid,x,x\n1,1,2,3\n",
        {},
        None,
        "file f, line 1, column x: expected different names, but columns 3 and 4 are both 'x'",
    ),
    "table column without a name": (
        "label,qid,x,\n1,1,2,3\n",
        {},
        None,
        "file f, line 1: expected a name for every column, but column 4 has no name, perhaps a column of row numbers; omit row numbers when you write the file",
    ),
    "table without features": (
        "label,qid,t\n1,1,a\n",
        {},
        None,
        "file f, line 1: expected feature columns (numbers), but found none among label, qid, t; set"
        " columns.features to an empty list for judgments without features",
    ),
    "table without rows": (
        "label,qid,x\n",
        {},
        None,
        "file f, line 1: expected rows below the header, but found none",
    ),
    "table feature a word": (
        "label,qid,x\n1,1,2\n1,1,3\n1,1,abc\n",
        {},
        None,
        "file f, line 4, column x: expected a number, but found 'abc'; or name 'x' in columns.ignore",
    ),
    "table feature with a decimal comma": (
        "label;qid;x\n1;1;0,5\n",
        {},
        None,
        "file f, line 2, column x: expected a number, with a point instead of a comma, but found '0,5'; or name 'x' in columns.ignore",
    ),
    "table feature beyond float32": (
        "label,qid,x\n1,1,1e39\n",
        {},
        None,
        "file f, line 2, column x: expected a number within float32's range of 3.4e38, but found '1e39'; or name 'x' in columns.ignore",
    ),
    "table label a word": (
        "label,qid,x\n1,1,2\ngood,1,2\n",
        {},
        None,
        "file f, line 3, column label: expected a label, a number such as 2, but found 'good'",
    ),
    "table label infinite": (
        "label,qid,x\ninf,1,2\n",
        {},
        None,
        "file f, line 2, column label: expected a finite label, but found 'inf'",
    ),
    "table query empty": (
        "label,qid,x\n1,,2\n",
        {},
        None,
        "file f, line 2, column qid: expected a query id, but found an empty cell",
    ),
    "table too few cells": (
        "label,qid,x\n1,1,2\n1,1\n",
        {},
        None,
        "file f, line 3: expected 3 cells as in the header, but found 2",
    ),
    "table too many cells": (
        "label,qid,x\n1,1,2,3\n",
        {},
        None,
        "file f, line 2: expected 3 cells as in the header, but found 4",
    ),
    "table quote not closed": (
        'label,qid,x\n1,"1,2\n1,1,3\n',
        {},
        None,
        "file f, line 2: expected a closing quote, but the file ends before one",
    ),
    "table behind a quoted line break": (
        'label,qid,docid,x\n1,1,"a\nb",2\n1,1,c,z\n',
        {},
        None,
        "file f, line 4, column x: expected a number, but found 'z'; or name 'x' in columns.ignore",
    ),
    "table not UTF-8": (
        b"label,qid,docid,x\n1,1,a,2\n1,1,\xe9,2\n",
        {},
        None,
        "file f, line 3, column docid: expected UTF-8 text (save the file as UTF-8), but found '\\\\xe9'",
    ),
    "table weight of a query differs": (
        "label,qid,weight,x\n1,1,1,2\n1,1,2,2\n",
        {},
        None,
        "file f, line 3, column weight: expected one value of 'weight' in query '1', but found '2' after '1'; name the column in columns.document_weight if it has weights of documents",
    ),
    "table weight negative": (
        "label,qid,weight,x\n1,1,-1,2\n",
        {},
        None,
        "file f, line 2, column weight: expected a finite weight of at least 0, but found '-1'",
    ),
    "table document weight empty": (
        "label,qid,doc_weight,x\n1,1,,2\n",
        {},
        None,
        "file f, line 2, column doc_weight: expected a finite weight of at least 0, but found an empty cell",
    ),
    "table text differs in a query": (
        "label,qid,market,x\n1,1,de,2\n1,1,fr,2\n",
        {},
        None,
        "file f, line 3, column market: expected one value of 'market' in query '1', but found 'fr' after 'de'; name the column in columns.document if it has the ids of documents, in columns.categorical_features if it is a feature, else in columns.ignore",
    ),
    "table text differs in a query with documents": (
        "label,qid,doc,market,x\n1,1,a,de,2\n1,1,b,fr,2\n",
        {},
        None,
        "file f, line 3, column market: expected one value of 'market' in query '1', but found 'fr' after 'de'; name the column in columns.categorical_features if it is a feature, else in columns.ignore",
    ),
    "table query scattered": (
        "label,qid,x\n1,1,2\n1,2,2\n1,1,2\n",
        {"non_contiguous_queries": "error"},
        None,
        "file f, line 4: expected the rows of query '1' to be contiguous, but they stopped on line 2",
    ),
    "table several": (
        "label,qid,x\nx,1,2\n1,1\n1,,z\n",
        {},
        None,
        "file f, line 2, column label: expected a label, a number such as 2, but found 'x' (and 3 more)",
    ),
    "parquet damaged": (
        _parquet(label=[1], qid=["a"], x=[1.0])[:-9],
        {},
        None,
        "file f: expected a valid Parquet file, but it is damaged: Parquet magic bytes not found in footer. Either the file is corrupted or this is not a parquet file.",
    ),
    "parquet statistics damaged": (
        _inconsistent_parquet(),
        {},
        None,
        "file f: expected a valid Parquet file, but it is damaged: Definition level histogram size mismatch, size: 2, expected: 1",
    ),
    "parquet column encrypted": (
        _partly_encrypted_parquet(),
        {},
        None,
        "file f: expected Parquet data without encryption",
    ),
    "parquet without rows": (
        _parquet(label=pa.array([], pa.int64()), qid=pa.array([], pa.string()), x=pa.array([], pa.float32())),
        {},
        None,
        "file f: expected rows, but the table has none",
    ),
    "parquet nested": (
        _parquet(label=[1], qid=["a"], x=[1.0], l=[{"a": 1}]),
        {},
        None,
        "file f: expected columns of numbers, text or lists of numbers, but l have other types; remove the columns or name them in columns.ignore",
    ),
    "parquet query null": (
        _parquet(label=[1, 1], qid=["a", None], x=[1.0, 2.0]),
        {},
        None,
        "file f, row 2, column qid: expected a query id, but found an empty cell",
    ),
    "parquet label text": (
        _parquet(label=["1", "two"], qid=["a", "a"], x=[1.0, 2.0]),
        {},
        None,
        "file f, row 2, column label: expected a label, a number such as 2, but found 'two'",
    ),
    "parquet label a date": (
        _parquet(label=[date(2026, 5, 1)], qid=["a"], x=[1.0]),
        {},
        None,
        "file f, row 1, column label: expected a label, a number such as 2, but found '2026-05-01'",
    ),
    "parquet feature of bytes": (
        _parquet(label=[1, 1], qid=["a", "a"], x=pa.array([b"7", b"z"], pa.binary(1))),
        {"columns": {"features": ["x"]}},
        None,
        "file f, row 2, column x: expected a number, but found 'z'; or name 'x' in columns.ignore",
    ),
    "parquet feature of bytes that are not UTF-8": (
        _parquet(label=[1, 1], qid=["a", "a"], x=[b"7", b"\xff"]),
        {"columns": {"features": ["x"]}},
        None,
        "file f, row 2, column x: expected UTF-8 text, but found other bytes; or name 'x' in columns.ignore",
    ),
    "parquet label of lists": (
        _parquet(label=[[1.0], [1.0]], qid=["a", "a"], x=[1.0, 2.0]),
        {},
        None,
        "file f: expected a column for the label, named label, labels, relevance or set in columns.label,"
        " but found only label, qid, x; 'label' holds lists",
    ),
    "parquet query id of bytes that are not UTF-8": (
        _parquet(label=[1, 1], qid=[b"a", b"\xff"], x=[1.0, 2.0]),
        {},
        None,
        "file f, row 2, column qid: expected UTF-8 text, but found other bytes",
    ),
    "parquet beyond float32": (
        _parquet(label=[1, 1], qid=["a", "a"], x=[1.0, 1e300]),
        {},
        None,
        "file f, row 2, column x: expected a number within float32's range of 3.4e38, but found '1e+300'; or name 'x' in columns.ignore",
    ),
    "empty": (b"", {}, None, "file f: expected judged documents, but the file is empty"),
    "blank": (b" \n\r\n\t", {}, None, "file f: expected judged documents, but found only blank lines"),
    "comments only": (b"# a\n# b\n", {}, None, "file f: expected judged documents, but found only comments"),
    "gzip cut off": (
        gzip.compress(OK.encode() * 100, mtime=0)[:-9],
        {},
        None,
        "file f: expected complete gzip data, but the file ends early; upload it again",
    ),
    "gzip damaged": (
        b"\x1f\x8bnot gzip at all",
        {},
        None,
        "file f: expected valid gzip data, but the file is damaged: unknown compression method",
    ),
    "gzip in gzip": (
        gzip.compress(gzip.compress(OK.encode(), mtime=0), mtime=0),
        {},
        None,
        "file f: expected data that are compressed once, but found gzip data within gzip data",
    ),
    "gzip of nothing": (
        gzip.compress(b"", mtime=0),
        {},
        None,
        "file f: expected judged documents, but the gzip data are empty",
    ),
    "Zstandard cut off": (
        bytes(pa.compress(OK.encode() * 1000, "zstd", asbytes=True))[:-3],
        {},
        None,
        "file f: expected complete Zstandard data, but the file ends early; upload it again",
    ),
    "ZIP archive": (
        b"PK\x03\x04rest",
        {},
        None,
        "file f: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found a ZIP archive (Excel sheets are ZIP archives, too)",
    ),
    "bzip2": (
        b"BZh9rest",
        {},
        None,
        "file f: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found bzip2 data",
    ),
    "xz": (
        b"\xfd7zXZ\x00rest",
        {},
        None,
        "file f: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found xz data",
    ),
    "UTF-16": (
        "1 qid:1 1:1".encode("utf-16"),
        {},
        None,
        "file f: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found UTF-16 text; save it as UTF-8",
    ),
    "image": (
        b"\x89PNG\r\n\x1a\n\x00\x00",
        {},
        None,
        "file f: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found binary data",
    ),
    "JSON": (
        b'{"label": 1}',
        {},
        None,
        "file f, line 1: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found JSON",
    ),
    "JSON lines": (
        b'{"label": 1}\n{"label": 2}\n',
        {},
        None,
        "file f, line 1: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found JSON lines",
    ),
    "a table with other separators": (
        b"query|label|bm25\nq|1|2.0\n",
        {},
        None,
        "file f, line 1: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found columns separated by '|'; separate them by commas, semicolons or tabs",
    ),
    "a table below comments": (
        b"# made by hand\nquery,label,bm25\nq,1,2.0\n",
        {},
        None,
        "file f, line 2: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found lines above the header of a table; delete them",
    ),
    "a line for Excel": (
        b"sep=;\nquery;label;bm25\nq;1;2.0\n",
        {},
        None,
        "file f, line 1: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found a line for Excel above the header of a table; delete it",
    ),
    "HTML": (
        b"<!DOCTYPE html><html>",
        {},
        None,
        "file f, line 1: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found an HTML page",
    ),
    "TREC qrels with a word too many": (
        b"101 0 d1 1\n101 0 d2 0 0\n\n101 0 d3\n",
        {"format": "trec-qrels"},
        None,
        "file f, line 2, column 1: expected 4 words (qid iteration docno relevance) instead of 5, but found '101 0 d2 0' (and 1 more)",
    ),
    "TREC qrels with a relevance in words": (
        b"101 0 d1 1\r\n101 0 d2 good\r\n101 0 d3 nan\n101 0 d4 inf\n",
        {"format": "trec-qrels"},
        None,
        "file f, line 2, column 10: expected a relevance, a number finite in float32, but found 'good' (and 2 more)",
    ),
    "TREC qrels that judge a document twice": (
        b"101 0 d1 1\n102 0 d1 1\n101 0 d2 0\n101 0 d1 0\n",
        {},
        None,
        "file f, line 4, column 7: expected each document once per query (first on line 1), but found 'd1'",
    ),
    "TREC qrels with a relevance too large": (
        b"101 0 d1 1\n101 0 d2 -1e39\n",
        {},
        None,
        "file f, line 2, column 10: expected a relevance, a number finite in float32, but found '-1e39'",
    ),
    "TREC qrels with digits of another kind": (
        "101 0 d1 +1\n101 0 d2 1_0\n101 0 d3 ١\n",
        {"format": "trec-qrels"},
        None,
        "file f, line 2, column 10: expected a relevance, a number finite in float32, but found '1_0' (and 1 more)",
    ),
    "TREC qrels cut off at the end": (
        b"101 0 d1 1\n101 0 d2",
        {},
        None,
        "file f, line 2, column 1: expected 4 words (qid iteration docno relevance) instead of 3, but found '101 0 d2'",
    ),
    "TREC qrels asked for, LETOR found": (
        b"1 qid:1 1:0.5\n",
        {"format": "trec-qrels"},
        None,
        "file f, line 1: expected TREC qrels, lines such as 'q1 0 d7 2', but found LETOR text, beginning '1 qid:1 1:0.5'",
    ),
    "TREC run": (
        b"101 Q0 d1 1 2.5 a\n",
        {},
        None,
        "file f, line 1: expected LETOR, LightGBM, CSV or Parquet data or TREC qrels, uncompressed or compressed with gzip or Zstandard, but found a TREC run, which has scores but no labels; upload it as a ranking, or evaluate it by rankery evaluate --run",
    ),
    "words": (
        b"hello world\n",
        {},
        None,
        "file f, line 1: expected LETOR, LightGBM, CSV or Parquet data, or TREC qrels, but found text in an unknown format, beginning 'hello world'",
    ),
    "CSV read as LETOR": (
        "label,qid,x\n1,1,2\n",
        {"format": "letor"},
        None,
        "file f, line 1: expected LETOR text, lines such as '2 qid:1 1:0.5', but found comma-separated text, beginning 'label,qid,x'",
    ),
    "LETOR read as CSV": (
        OK,
        {"format": "csv"},
        None,
        "file f, line 1: expected delimited text with the names of its columns in the first line, but found LETOR text, beginning '0 qid:1 1:1'",
    ),
    "LETOR read as Parquet": (
        OK,
        {"format": "parquet"},
        None,
        "file f, line 1: expected a Parquet file, but found LETOR text, beginning '0 qid:1 1:1'",
    ),
    "unpacks too large": (
        gzip.compress(OK.encode() * 100_000, mtime=0),
        {},
        None,
        "file f: expected gzip data of at most 1,000,000 uncompressed bytes (RANKERY_MAX_UNPACKED_BYTES), but found more",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_file_is_refused_with_the_position_and_a_solution(tmp_path: Path, case: str) -> None:
    """The message names file, line and column, and the found and the expected value."""
    content, options, sizes, message = MALFORMED[case]
    path, side = tmp_path / "stored", None
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if sizes is not None:
        side = tmp_path / "sizes"
        side.write_text(sizes)
    with pytest.raises(DatasetError) as caught:
        read_file(JudgedFile(path, "f", side, "q"), reading_options(options), LIMITS)
    assert str(caught.value) == message
