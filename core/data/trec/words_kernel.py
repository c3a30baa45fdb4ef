"""Find the words of each line."""

import numpy as np

from core.data.text_kernel import HASH, LINE_FEED, is_blank, line_stop, skip_blanks, word_stop
from core.jit import exact_bare
from core.text.bytes_kernel import Text
from core.types import Int64Array


@exact_bare
def _is_comment(text: Text, at: np.uint64, size: np.uint64) -> bool:
    """Return whether a line is a comment; a judgment may begin with #, as its query id may be "#7"."""
    if text[at] != HASH:
        return False
    one = np.uint64(1)
    alone = at + one == word_stop(text, at, size)
    words, has_iteration = 0, False  # the second word of a judgment, TREC's unused iteration
    while at < size and text[at] != LINE_FEED:
        if is_blank(text[at]):
            at += one
            continue
        stop = word_stop(text, at, size)
        words += 1
        if words == 2:
            last = text[stop - one]
            has_iteration = (stop == at + one and (last == 48 or last == 49)) or (  # 0, 1
                stop == at + np.uint64(2) and text[at] == 81 and last == 48  # Q0
            )
        at = stop
    return alone or words != 4 or not has_iteration


@exact_bare
def count_lines(text: Text, start: int, comments: bool) -> int:
    """Count the lines that have words and, if `comments`, are not comments."""
    size, at, lines = np.uint64(len(text)), np.uint64(start), 0
    while at < size:
        at = skip_blanks(text, at, size)
        if at < size and text[at] != LINE_FEED and not (comments and _is_comment(text, at, size)):
            lines += 1
        at = line_stop(text, at, size) + np.uint64(1)
    return lines


@exact_bare
def find_words(
    text: Text,
    start: int,
    comments: bool,
    starts: Int64Array,
    stops: Int64Array,
    counts: Int64Array,
    numbers: Int64Array,
) -> None:
    """Store the positions of the first words of each line, and the number of words; skip lines without words.

    Args:
        text: (n_bytes,) text.
        comments: Whether lines that begin with # and are not judgments are skipped.
        starts: (n_columns, n_lines) receives the position of each word, for missing words the line end.
        stops: (n_columns, n_lines) receives the position after its last byte.
        counts: (n_lines,) receives the number of words.
        numbers: (n_lines,) receives the line number in the file, blank lines included.
    """
    size, at = np.uint64(len(text)), np.uint64(start)
    one = np.uint64(1)
    line, number = 0, 1
    while at < size:
        at = skip_blanks(text, at, size)
        if at >= size:
            return
        if text[at] == LINE_FEED:
            at += one
            number += 1
            continue
        if comments and _is_comment(text, at, size):
            at = line_stop(text, at, size) + one
            number += 1
            continue
        words = 0
        while at < size and text[at] != LINE_FEED:
            if is_blank(text[at]):
                at += one
                continue
            stop = word_stop(text, at, size)
            if words < starts.shape[0]:
                starts[words, line], stops[words, line] = at, stop
            words += 1
            at = stop
        for missing in range(words, starts.shape[0]):
            starts[missing, line], stops[missing, line] = at, at
        counts[line], numbers[line] = words, number
        line += 1
        number += 1
        at += one
