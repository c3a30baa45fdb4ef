"""Where the words of each line are."""

import numpy as np

from core.data.text_kernel import LINE_FEED, Text, is_blank, skip_blanks, word_stop
from core.jit import exact_bare
from core.types import Int64Array


@exact_bare
def count_lines(text: Text, start: int) -> int:
    """Count the lines that hold a word."""
    size, at, lines = np.uint64(len(text)), np.uint64(start), 0
    one = np.uint64(1)
    while at < size:
        at = skip_blanks(text, at, size)
        if at < size and text[at] != LINE_FEED:
            lines += 1
        while at < size and text[at] != LINE_FEED:
            at += one
        at += one
    return lines


@exact_bare
def find_words(
    text: Text, start: int, starts: Int64Array, stops: Int64Array, counts: Int64Array, numbers: Int64Array
) -> None:
    """Note the first words of each line that holds any, and how many it holds.

    Args:
        text: (n_bytes,) text.
        start: Where it begins.
        starts: (n_columns, n_lines) receives the first byte of each word.
        stops: (n_columns, n_lines) receives the byte behind it.
        counts: (n_lines,) receives the number of words; the end of the line stands for those that miss.
        numbers: (n_lines,) receives the line's number in the file, which counts blank lines, too.
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
