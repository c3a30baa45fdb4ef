"""Streaming readers of click logs in several formats, into memory-mapped columns."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.clicks.reading.options import log_options
    from core.clicks.reading.reading import LogFile, LogReading, read_click_log

__getattr__ = lazy_names(__name__)
