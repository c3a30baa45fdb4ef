"""A cache on disk that several processes share."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import core
from core.store.artifacts.local_cache import LocalCache

KIB = 1024
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(core.__file__).parents[1])}
DIE_WHILE_WRITING = """
import os, pathlib, signal, sys
from core.store.artifacts.local_cache import LocalCache
with LocalCache(pathlib.Path(sys.argv[1]), 10**6).adding("key") as folder:
    (folder / "content").write_bytes(bytes(1024))
    os.kill(os.getpid(), signal.SIGKILL)
"""
WRITE_SLOWLY = """
import pathlib, sys
from core.store.artifacts.local_cache import LocalCache
with LocalCache(pathlib.Path(sys.argv[1]), 10**6).adding("slow") as folder:
    (folder / "content").write_bytes(b"slow")
    print("writing", flush=True)
    sys.stdin.readline()
"""
READ_AND_WRITE = """
import pathlib, random, sys, time
from core.store.artifacts.local_cache import LocalCache
cache, generator = LocalCache(pathlib.Path(sys.argv[1]), 20 * 1024), random.Random(sys.argv[2])
hits, until = 0, time.monotonic() + 2
while time.monotonic() < until:
    key = str(generator.randrange(12))
    expected = (key * 4096)[:4096]
    if (entry := cache.find(key)) is not None:
        try:
            parts = [(entry / name).read_text() for name in ("a", "b")]
        except FileNotFoundError:
            continue
        assert parts == [expected[:2048], expected[2048:]], "half an entry"
        hits += 1
    else:
        with cache.adding(key) as folder:
            (folder / "a").write_text(expected[:2048])
            (folder / "b").write_text(expected[2048:])
print(hits)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The path of the cache's folder, which the cache creates."""
    return tmp_path / "cache" / "arrays"


def add(cache: LocalCache, key: str, size_bytes: int = KIB) -> None:
    """Add an entry of one file."""
    with cache.adding(key) as folder:
        (folder / "content").write_bytes(bytes(size_bytes))


def stored_keys(cache: LocalCache, keys: str) -> str:
    """Return the keys that have entries, without marking the entries as used."""
    return "".join(key for key in keys if cache._entry(key).exists())


def hidden_folders(folder: Path) -> list[Path]:
    """List the unfinished and evicted folders."""
    return [path for path in folder.iterdir() if path.name.startswith(".") and path.name != ".lock"]


def test_an_entry_is_found_by_its_key(folder: Path) -> None:
    """An added entry is found by another cache on the same folder, too; another key is not."""
    cache = LocalCache(folder, 10 * KIB)
    assert cache.find("a") is None
    add(cache, "a")
    entry = LocalCache(folder, 10 * KIB).find("a")
    assert entry is not None
    assert (entry / "content").stat().st_size == KIB
    assert cache.find("b") is None


def test_the_least_recently_used_entries_are_evicted(folder: Path) -> None:
    """Reading counts as use; only as many entries are evicted as necessary."""
    cache = LocalCache(folder, 3 * KIB)
    for key in "abc":
        add(cache, key)
    assert cache.find("a") is not None
    add(cache, "d")
    assert stored_keys(cache, "abcd") == "acd"
    add(cache, "e", 2 * KIB)
    assert stored_keys(cache, "abcde") == "de"
    assert hidden_folders(folder) == []


def test_all_entries_together_stay_below_the_bound(folder: Path) -> None:
    """All entries together never take more than the bound."""
    generator, cache = random.Random(1), LocalCache(folder, 10 * KIB)
    for number in range(60):
        add(cache, str(number), generator.randrange(4 * KIB))
        total = sum(file.stat().st_size for file in folder.rglob("content"))
        assert 5 * KIB * (number > 20) <= total <= 10 * KIB


def test_an_entry_above_the_bound_is_not_kept(folder: Path) -> None:
    """An entry above the bound does not evict the others."""
    cache = LocalCache(folder, 3 * KIB)
    add(cache, "a", 3 * KIB)
    add(cache, "b", 3 * KIB + 1)
    assert stored_keys(cache, "ab") == "a"
    assert (cache.fits(3 * KIB), cache.fits(3 * KIB + 1)) == (True, False)


def test_the_first_of_two_writers_wins(folder: Path) -> None:
    """The same key means the same content, so an entry never changes under its readers."""
    cache = LocalCache(folder, 10 * KIB)
    with cache.adding("a") as outer:
        add(cache, "a", 5)
        (outer / "content").write_bytes(bytes(7))
    entry = cache.find("a")
    assert entry is not None
    assert (entry / "content").stat().st_size == 5
    assert hidden_folders(folder) == []


def test_a_failure_while_writing_leaves_nothing(folder: Path) -> None:
    """Half an entry is never seen."""
    cache = LocalCache(folder, 10 * KIB)
    with contextlib.suppress(ZeroDivisionError), cache.adding("a") as entry:
        (entry / "content").write_bytes(b"half")
        raise ZeroDivisionError
    assert cache.find("a") is None
    assert hidden_folders(folder) == []


@pytest.mark.long
def test_a_process_killed_while_writing_leaves_nothing_for_long(folder: Path) -> None:
    """The partial entry of the process is never seen, and the next writer deletes it."""
    killed = subprocess.run(
        [sys.executable, "-c", DIE_WHILE_WRITING, str(folder)], env=ENVIRONMENT, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    cache = LocalCache(folder, 10 * KIB)
    assert len(hidden_folders(folder)) == 1
    assert cache.find("key") is None
    add(cache, "a")
    assert hidden_folders(folder) == []


@pytest.mark.long
def test_a_slow_writer_is_not_swept(folder: Path) -> None:
    """A folder whose writer lives stays, however long it takes."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE_SLOWLY, str(folder)],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    cache = LocalCache(folder, 10 * KIB)
    add(cache, "a")
    process.communicate("go\n")
    assert process.returncode == 0
    entry = cache.find("slow")
    assert entry is not None
    assert (entry / "content").read_bytes() == b"slow"


def test_an_evicted_entry_that_is_open_stays_readable(folder: Path) -> None:
    """Eviction removes only the names of files that are being read."""
    cache = LocalCache(folder, 2 * KIB)
    add(cache, "a")
    entry = cache.find("a")
    assert entry is not None
    with (entry / "content").open("rb") as file:
        add(cache, "b", 2 * KIB)
        assert not entry.exists()
        assert file.read() == bytes(KIB)


def test_a_damaged_entry_can_be_discarded(folder: Path) -> None:
    """A discarded entry can be added again."""
    cache = LocalCache(folder, 10 * KIB)
    add(cache, "a", 1)
    cache.discard("a")
    cache.discard("never there")
    assert cache.find("a") is None
    add(cache, "a", 2)
    assert cache.find("a") is not None


@pytest.mark.long
def test_many_processes_share_a_cache(folder: Path) -> None:
    """No process ever sees a partial entry, an error or more bytes than the bound."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", READ_AND_WRITE, str(folder), str(seed)],
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(4)
    ]
    while any(process.poll() is None for process in processes):
        entries = [entry for entry in folder.glob("[!.]*") if entry.is_dir()]
        assert len(entries) <= 5  # of 4 KiB each
        time.sleep(0.02)
    for process in processes:
        output, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
        assert int(output) > 0
    assert hidden_folders(folder) == []
