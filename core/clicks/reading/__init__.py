"""Streaming readers of click logs in several formats, into memory-mapped columns."""

from typing import TYPE_CHECKING

from rankery.lazy_names import lazy_names

if TYPE_CHECKING:
    from core.clicks.reading.options import FORMATS, LogOptions, log_options
    from core.clicks.reading.reading import LogFile, LogReading, read_click_log
    from core.clicks.reading.report import ReadingReport

__getattr__ = lazy_names(__name__)
