"""URLs, and the prefixes below which they may be read."""

import pytest

from core.errors import InvalidInput
from core.store import StoreSettings
from core.store.sources.source_urls import AllowedUrls, parse_redirect, parse_source_url


@pytest.mark.parametrize(
    ("text", "shown", "segments"),
    [
        ("s3://clicks/2026/part-1.csv", "s3://clicks/2026/part-1.csv", ("2026", "part-1.csv")),
        ("gs://clicks/a b.csv", "gs://clicks/a b.csv", ("a b.csv",)),
        ("https://Data.Example.org:443/a%20b/x", "https://data.example.org/a%20b/x", ("a b", "x")),
        ("https://ex.org:8443/x?download=1", "https://ex.org:8443/x?download=1", ("x",)),
        ("https://ex.org/files/1/", "https://ex.org/files/1/", ("files", "1")),
        ("https://EXÄMPLE.org/x", "https://xn--exmple-cua.org/x", ("x",)),
        ("hf:org/name/a.csv", "hf://datasets/org/name/a.csv", ("datasets", "org", "name", "a.csv")),
        (
            "hf://datasets/org/name@v1/a.csv",
            "hf://datasets/org/name@v1/a.csv",
            ("datasets", "org", "name", "a.csv"),
        ),
        (
            "hf://datasets/org/name@refs/convert/parquet/default/0.parquet",
            "hf://datasets/org/name@refs%2Fconvert%2Fparquet/default/0.parquet",
            ("datasets", "org", "name", "default", "0.parquet"),
        ),
        ("ir_datasets:msmarco-passage/dev", "ir_datasets:msmarco-passage/dev", ("msmarco-passage", "dev")),
    ],
)
def test_urls_have_one_form(text: str, shown: str, segments: tuple[str, ...]) -> None:
    """The shown form is parsed to the same URL."""
    url = parse_source_url(text)
    assert (str(url), url.segments) == (shown, segments)
    assert parse_source_url(shown) == url


@pytest.mark.parametrize(
    "text",
    [
        "",
        "train.csv",
        "file:///etc/passwd",
        "ftp://ex.org/x",
        "s3://",
        "s3://clicks",
        "s3://key:secret@clicks/x",
        "s3://clicks/../private/x",
        "s3://clicks//x",
        "s3://clicks/x?versionId=1",
        "s3://clicks/*.csv",
        "s3://clicks/x::file:///etc/passwd",
        "https://ex.org",
        "https://user:secret@ex.org/x",
        "https://ex.org./x",
        "https://ex.org/a//x",
        "https://ex.org/a/%2e%2e/x",
        "https://ex.org/a%2fx",
        "https://ex.org/a%5cx",
        "https://ex.org/a\\x",
        "https://ex.org/a%252fx",
        "https://ex.org/a%00x",
        "https://ex.org/a%ffx",
        "https://ex.org/x#y",
        "https://ex.org/x\n",
        " https://ex.org/x",
        "https://ex.org/x?X-Amz-Signature=1",
        "https://ex.org/x?sig=1",
        "https://ex.org/x?access_token=1",
        "https://ex.org/x?apiKey=1",
        "https://ex.org/x?apikey=1",
        "https://ex.org/x?AWSAccessKeyId=1",
        "https://ex.org/x?authentication=1",
        "https://ex.org:99999/x",
        "https:///x",
        "hf:name",
        "hf://models/org/name/x",
        "hf://datasets/org@v1/name/x",
        "hf://datasets/org/name@../x",
        "hf://datasets/org/../x/y",
        "ir_datasets:",
        "ir_datasets:../x",
        "https://ex.org/" + "x" * 2_000,
    ],
)
def test_ambiguous_urls_are_refused(text: str) -> None:
    """A URL with credentials is refused, too, because URLs are stored and shown."""
    with pytest.raises(InvalidInput):
        parse_source_url(text)


@pytest.mark.parametrize("query", ["keyword=shoes", "author=smith", "signal=1", "page-keyboard=1"])
def test_parameters_without_credentials_are_kept(query: str) -> None:
    """A parameter whose name only begins like that of a credential is part of the URL."""
    assert parse_source_url(f"https://ex.org/x?{query}").query == query


ALLOWED = AllowedUrls(
    [
        *("s3://clicks/2026/", "https://data.example.org/public", "https://ex.org:8443", "http://plain.org/"),
        *(
            "hf://datasets/org/name",
            "hf://datasets/other",
            "hf://datasets/fixed/one@v1",
            "ir_datasets:vaswani",
        ),
    ]
)


@pytest.mark.parametrize(
    "text",
    [
        "s3://clicks/2026/x",
        "https://data.example.org/public/a/x",
        "https://DATA.example.org:443/public/x",
        "https://data.example.org/public/a/../x",
        "https://ex.org:8443/x",
        "http://plain.org/x",
        "hf:org/name/x",
        "hf:org/name@v2/x",
        "hf:other/any/x",
        "hf:fixed/one@v1/x",
        "ir_datasets:vaswani",
    ],
)
def test_urls_below_a_prefix_are_allowed(text: str) -> None:
    """Whole names are compared."""
    ALLOWED.check(parse_source_url(text))


@pytest.mark.parametrize(
    "text",
    [
        "s3://clicks/2026-private/x",
        "s3://clicks/2025/x",
        "s3://clicks-more/2026/x",
        "gs://clicks/2026/x",
        "https://data.example.org/publication/x",
        "https://data.example.org/public/../private/x",
        "https://data.example.org:8443/public/x",
        "https://data.example.org.evil.org/public/x",
        "http://data.example.org/public/x",
        "https://ex.org/x",
        "https://plain.org/x",
        "hf:org/name2/x",
        "hf:fixed/one/x",
        "hf:fixed/one@v2/x",
        "ir_datasets:vaswani2",
    ],
)
def test_other_urls_are_refused(text: str) -> None:
    """The error names the setting."""
    with pytest.raises(InvalidInput, match="below one of the prefixes of RANKERY_SOURCES"):
        ALLOWED.check(parse_source_url(text))
    with pytest.raises(InvalidInput, match="RANKERY_SOURCES is not set"):
        AllowedUrls([]).check(parse_source_url(text))


def test_a_redirect_may_be_signed() -> None:
    """A redirect is neither stored nor shown; all other rules apply to it."""
    assert str(parse_redirect("https://ex.org/x?X-Amz-Signature=1")) == "https://ex.org/x?X-Amz-Signature=1"
    for text in ("s3://clicks/x", "https://user@ex.org/x", "https://ex.org/%2e%2e/x", "file:///etc/passwd"):
        with pytest.raises(InvalidInput):
            parse_redirect(text)


def test_the_setting_takes_prefixes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that is not a URL is refused when the process starts."""
    monkeypatch.setenv("RANKERY_SOURCES", "s3://clicks/2026, ir_datasets:,hf://datasets, https://ex.org")
    assert len(StoreSettings().sources) == 4
    for wrong in ("clicks", "s3://key:secret@clicks", "*", "https://*.example.org/", "file:///"):
        monkeypatch.setenv("RANKERY_SOURCES", wrong)
        with pytest.raises(ValueError, match="sources"):
            StoreSettings()
