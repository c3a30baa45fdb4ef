"""Optional packages, each in the extra of `rankery-server` that its error names."""

import json
import subprocess
import sys

import pytest

_STORE = (
    "from core.store import Store, StoreSettings; Store.open(StoreSettings(data_dir={folder!r}, {setting}))"
)

_FIND = (
    "from core.store.sources.source_urls import parse_source_url\n"
    "from core.store.sources.files import RemoteFiles\n"
    "url = parse_source_url('{url}')\n"
    "RemoteFiles([str(url)], [], None).find([url], None, None)[0]"
)


# Package, code that needs it, name of that code in the error, extra.
CASES = [
    (
        "psycopg",
        _STORE.replace("{setting}", "database_url='postgresql://user@db.invalid/rankery'"),
        "a PostgreSQL database",
        "postgresql",
    ),
    ("s3fs", _STORE.replace("{setting}", "storage_url='s3://bucket'"), "an artifact storage on S3", "s3"),
    (
        "onnx",
        "from core.export.onnx import OnnxTrees; OnnxTrees().read(b'', None)",
        "an export to ONNX",
        "onnx",
    ),
    ("s3fs", _FIND.format(url="s3://bucket/x"), "an S3 URL", "s3"),
    ("gcsfs", _FIND.format(url="gs://bucket/x"), "a Google Cloud Storage URL", "gcs"),
    (
        "huggingface_hub",
        _FIND.format(url="hf:org/name/x"),
        "a Hugging Face Hub URL",
        "huggingface",
    ),
    (
        "ir_datasets",
        _FIND.format(url="ir_datasets:vaswani") + ".read(0, None).__enter__()",
        "a dataset of ir_datasets",
        "ir-datasets",
    ),
    ("jax", "import core.training.networks.differentiation", "training a network", "neural"),
    ("distributed", "import worker.ranks.connections", "a distributed training", "distributed"),
    (
        "cryptography",
        "from worker.ranks.identity import Identity; Identity.new('job_1', 1)",
        "a distributed training",
        "distributed",
    ),
    (
        "cryptography",
        f"from app.settings import ApiSettings; from app.webhooks.secrets import SecretCipher;"
        f" SecretCipher(ApiSettings(encryption_keys=['{'A' * 43}=']).encryption_keys)",
        "the encryption of secrets",
        "encryption",
    ),
]
# An environment without extras; one process for all cases, since its imports take seconds.
_RUN = """
import json, sys
from core.process_start import leave_out_unused
leave_out_unused()
cases = json.load(sys.stdin)
for package, _ in cases:
    sys.modules[package] = None
errors = []
for _, code in cases:
    try:
        exec(code)
        errors.append(None)
    except Exception as error:
        errors.append(f"{type(error).__name__}: {error}")
json.dump(errors, sys.stdout)
"""


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The error message of each case in a process that has none of the packages."""
    folder = str(tmp_path_factory.mktemp("data"))
    cases = [(package, code.format(folder=folder)) for package, code, _, _ in CASES]
    command = [sys.executable, "-c", _RUN]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, check=True)
    messages: list[str] = json.loads(done.stdout)
    return messages


@pytest.mark.long
@pytest.mark.parametrize(
    "case", range(len(CASES)), ids=[f"{package}-{subject}" for package, _, subject, _ in CASES]
)
def test_an_absent_package_is_named_with_its_extra(errors: list[str], case: int) -> None:
    """Everything else is imported without the package, and the error has the command that installs it."""
    _, _, subject, extra = CASES[case]
    assert errors[case] == (
        f"ExtraMissing: {subject} needs an optional package; install it with"
        f' pip install "rankery-server[{extra}]", or with make extras in a clone'
    )
