"""Optional packages, each in the extra of `rankery-server` that its error names."""

import subprocess
import sys
from pathlib import Path

import pytest

_STORE = (
    "from core.store import Store, StoreSettings; Store.open(StoreSettings(data_dir={folder!r}, {setting}))"
)

_FIND = (
    "from core.store.sources.addresses import parse_address\n"
    "from core.store.sources.files import RemoteFiles\n"
    "address = parse_address('{address}')\n"
    "RemoteFiles([str(address)], [], None).find([address], None, None)[0]"
)


@pytest.mark.parametrize(
    ("package", "code", "what", "extra"),
    [
        (
            "psycopg",
            _STORE.replace("{setting}", "database_url='postgresql://user@db.invalid/rankery'"),
            "a PostgreSQL database",
            "postgresql",
        ),
        ("s3fs", _STORE.replace("{setting}", "storage_url='s3://bucket'"), "an artifact storage on S3", "s3"),
        (
            "onnx",
            "from core.export.onnx import Onnx; Onnx().read(b'', None)",
            "an export to ONNX",
            "onnx",
        ),
        ("s3fs", _FIND.format(address="s3://bucket/x"), "an address of S3", "s3"),
        ("gcsfs", _FIND.format(address="gs://bucket/x"), "an address of Google Cloud Storage", "gcs"),
        (
            "huggingface_hub",
            _FIND.format(address="hf:org/name/x"),
            "an address of the Hugging Face Hub",
            "huggingface",
        ),
        (
            "ir_datasets",
            _FIND.format(address="ir_datasets:vaswani") + ".read(0, None).__enter__()",
            "a dataset of ir_datasets",
            "ir-datasets",
        ),
        ("jax", "import core.training.networks", "training a network", "neural"),
        ("distributed", "import worker.ranks.connections", "a distributed training", "distributed"),
        (
            "cryptography",
            "from worker.ranks.identity import Identity; Identity.new('job_1', 1)",
            "a distributed training",
            "distributed",
        ),
    ],
)
def test_an_absent_package_is_named_with_its_extra(
    tmp_path: Path, package: str, code: str, what: str, extra: str
) -> None:
    """Everything else is imported without it, and the error says how to install it."""
    lines = f"import sys; sys.modules[{package!r}] = None\n{code.format(folder=str(tmp_path))}"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        f'core.errors.ExtraMissing: {what} needs an optional package: pip install "rankery-server[{extra}]",'
        " or make extras in a clone"
    )
