"""Export archives: model file, loading instructions, parity report and golden vectors."""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from core.export.parity_report import EngineParity, NetworkEngineParity, NetworkParityReport, ParityReport
from core.export.target import Export

_ENTRY_TIME = (1980, 1, 1, 0, 0, 0)  # a fixed time, so that equal exports have equal bytes


def archive(export: Export, report: ParityReport, about: Mapping[str, Any], golden: Iterable[str]) -> bytes:
    """Pack an export with its parity report and golden vectors.

    Args:
        about: Further entries of `parity.json`: the model and the data.
    """
    source = export.source
    files = {
        "README.md": readme(export, report).encode(),
        export.target.filename: export.content,
        **export.target.companions(source, export.content),
        "parity.json": json.dumps({**about, **asdict(report)}, indent=2, ensure_ascii=False).encode() + b"\n",
        "golden.jsonl": "".join(golden).encode(),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
        for name, content in files.items():
            file.writestr(zipfile.ZipInfo(name, _ENTRY_TIME), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def readme(export: Export, report: ParityReport) -> str:
    """Return the README of an export archive, in Markdown."""
    target, source = export.target, export.source
    shift = f"A constant, {source.shift!r}, is added to all scores.\n" if source.shift is not None else ""
    verdicts = "".join(
        f"- {engine.engine} ({engine.arithmetic}): {_verdict(engine)}.\n" for engine in report.engines
    )
    model_score = "`lightgbm`, the score of LightGBM."
    if isinstance(report, NetworkParityReport):
        model_score = "`rankery`, the score of the stored model."
    notes = "".join(f"- {note}\n" for note in report.notes)
    return (
        f"# {source.name} for {target.reader}\n\n{target.summary}: `{target.filename}`.\n{shift}\n## Load"
        f" the model\n\n{target.instructions(source)}\n## Parity with the stored model\n\n`parity.json`"
        f" lists the comparisons:\n\n{verdicts}{notes}\n`golden.jsonl` has one document per line:"
        f" `features`, the `score` that the engine must return, and\n{model_score}\n"
    )


def _verdict(engine: EngineParity) -> str:
    if isinstance(engine, NetworkEngineParity):
        return _score_verdict(engine)
    neighbours, data = engine.neighbours, engine.data
    verdict = (
        f"{neighbours.differing_decisions:,} of {neighbours.decisions:,} decisions around thresholds"
        " differ from LightGBM's"
    )
    if data is None:
        return verdict
    return (
        f"{verdict}, and {data.differing_leaves:,} of {data.leaves:,} leaves of {data.documents:,} documents"
    )


def _score_verdict(engine: NetworkEngineParity) -> str:
    edges, data = engine.edge_cases, engine.data
    verdict = (
        f"the scores of {edges.differing_documents:,} of {edges.documents:,} edge cases differ from the"
        " model's scores by more than rounding errors"
    )
    if data is None:
        return verdict
    return (
        f"{verdict}, and those of {data.differing_documents:,} of {data.documents:,} documents, with a"
        f" largest difference of {data.largest_score_difference:.2g}"
    )
