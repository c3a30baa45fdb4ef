"""Compilation of the doctor's kernels ahead of the first job."""

import importlib
import pkgutil
from io import BytesIO
from typing import Any

import pytest

import core.doctor
from core.data import read_parquet, synthetic_dataset, write_parquet
from core.doctor import compare, examine
from core.warm_up.kernels import doctor_comparison, doctor_examination


def _compiled() -> dict[str, list[Any]]:
    modules = [
        importlib.import_module(f"core.doctor.{m.name}") for m in pkgutil.iter_modules(core.doctor.__path__)
    ]
    return {
        f"{module.__name__}.{name}": list(kernel.signatures)
        for module in modules
        for name, kernel in vars(module).items()
        if hasattr(kernel, "signatures")
    }


@pytest.mark.long
def test_nothing_is_left_to_compile_after_warming_up() -> None:
    """After the warm-up, no kernel is compiled, whatever the source of a job's data."""
    doctor_examination()
    doctor_comparison()
    before = _compiled()
    drawn, file = synthetic_dataset(30, seed=1, n_features=10), BytesIO()
    write_parquet(drawn, file)
    file.seek(0)
    stored = read_parquet(file)
    for dataset in (drawn, stored, stored.select_queries([2, 1])):
        examine(dataset, threads=2)
        compare(drawn, dataset, "test")
    assert before["core.doctor.columns._measure_blocks"]
    assert _compiled() == before
