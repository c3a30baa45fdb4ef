"""A search engineer in a shell: from a judged table to a nightly retraining, as on the guide's page."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rankery.embedded.stack import EmbeddedStack
from tests.guide.blocks import blocks
from tests.guide.conftest import ROOT

PAGE = ROOT / "docs" / "how-to" / "command-line.md"
COLUMNS = """'{"label": "grade", "query": "search", "document": "doc"}'"""
# The engineer's commands, by step; each must succeed without unexpected output.
STEPS = {
    "doctor": f"rankery doctor judged.csv --test test.csv --columns {COLUMNS}",
    "train and watch": f"rankery train judged.csv --test test.csv --name web --columns {COLUMNS} --watch",
    "grid": "rankery train judged.csv --test test.csv --name web --grid num_leaves=4,16 --no-auto --quiet",
    "evaluate": "rankery evaluate web:1 --dataset test.csv --metric ndcg@10",
    "compare with the run": "rankery compare present.run web:1 --dataset test.csv --metric ndcg@10",
    "gate": """
        rankery models promote web:1
        rankery gates set web@champion --dataset test.csv --metric ndcg@10 --require better
        rankery gates show web@champion
        rankery gates list""",
    "features": "rankery models inspect web:1; rankery models inspect web:1 --dataset test.csv --repeats 2",
    "export": """
        rankery export web@champion --format solr --feature-set shop --archive -o solr.zip
        rankery export web@champion --format vespa --archive -o vespa.zip
        rankery export web@champion --format python --archive -o replay.zip""",
    "replay golden vectors": """
        mkdir replay && cd replay && python3 -m zipfile -e ../replay.zip . && python3 -P ../replay.py""",
    "nightly": f"""
        head -n 401 judged.csv > new.csv && mv new.csv judged.csv
        bash nightly.sh judged.csv --columns {COLUMNS}""",
    "a night without training data": "! bash nightly.sh replay.py",
    "tags and storage": """
        rankery models label web:1 --set team=search
        rankery models describe web:1 --text 'Trained by hand' --json
        rankery storage show
        rankery events list --limit 5""",
    "delete old models": """
        rankery train judged.csv --name old --set num_iterations=5 --quiet > old.txt
        rankery models delete --name old --older-than 0 --with-results --dry-run
        rankery models delete --name old --older-than 0 --with-results --yes
        rankery trash list
        rankery trash empty --yes""",
    "completion": """
        eval "$(rankery --show-completion bash)"
        COMP_WORDS=(rankery models show web @); COMP_CWORD=4; COMPREPLY=()
        _rankery_completion rankery @ web
        echo "${COMPREPLY[@]}" """,
}
REPLAY = """
import json, model
lines = open("golden.jsonl", encoding="utf-8").read().splitlines()
for golden in map(json.loads, lines):
    assert model.score(list(golden["features"].values())) == golden["score"], golden["id"]
print(len(lines), "equal")
"""
STEP_LIMIT_SECONDS = 240.0

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStack]:
    """`rankery serve` on the engineer's machine."""
    with EmbeddedStack(tmp_path_factory.mktemp("rankery-data")) as stack:
        yield stack


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engineer's folder: judged tables, and a run of the present system, which ranks by one feature."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "replay.py").write_text("import sys\nsys.path.insert(0, '.')\n" + REPLAY)
    (script,) = (block.text for block in blocks(PAGE) if block.title == "nightly.sh")
    (folder / "nightly.sh").write_text(script.replace("shop", "web"))
    for name, n_queries, seed in (("judged", 100, 1), ("test", 50, 2)):
        random = np.random.default_rng(seed)
        lines, run = ["search,doc,grade,bm25,freshness,market"], []
        for query in range(n_queries):
            market = ("de", "ch", "fr")[query % 3]
            for document in range(10):
                bm25, freshness = random.normal(10, 4), random.random()
                grade = int(np.clip(bm25 / 4 + 3 * freshness + random.normal(0, 0.5) - 2, 0, 4))
                shown = "" if random.random() < 0.05 else f"{freshness:.5f}"
                lines.append(f"{name} {query},d{document},{grade},{bm25:.4f},{shown},{market}")
                run.append((query, -bm25, f"{name}%20{query} Q0 d{document} {{rank}} {bm25:.4f} present"))
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
        ranked = [line for *_, line in sorted(run)]
        text = "".join(line.format(rank=index % 10 + 1) + "\n" for index, line in enumerate(ranked))
        (folder / "present.run").write_text(text)
    return folder


@pytest.fixture(scope="module")
def outputs(stack: EmbeddedStack, desk: Path) -> dict[str, str]:
    """The output of each step, after all have succeeded."""
    printed = {}
    for step, commands in STEPS.items():
        shell = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=desk,
            capture_output=True,
            text=True,
            timeout=STEP_LIMIT_SECONDS,
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "RANKERY_DATA_DIR": str(stack.data_dir),
                "NO_COLOR": "1",
            },
        )

        assert shell.returncode == 0, f"{step}:\n{shell.stdout}\n{shell.stderr}"
        assert "Traceback" not in shell.stderr, step

        printed[step] = shell.stdout
    return printed


def test_every_step_succeeds(outputs: dict[str, str]) -> None:
    """Each step prints the result that the engineer needs."""
    assert "web:1" in outputs["train and watch"]
    assert "is the best by validation" in outputs["grid"]
    assert "web:1 is better than present.run" in outputs["compare with the run"]
    assert "web@champion" in outputs["gate"]
    assert "bm25" in outputs["features"]
    assert "equal" in outputs["replay golden vectors"]
    assert outputs["completion"] == "champion\n"
    assert "would delete 1 model" in outputs["delete old models"]
    assert "nothing to delete" not in outputs["delete old models"]


def test_the_nightly_script_writes_one_line_of_json(outputs: dict[str, str]) -> None:
    """The line has the decision and its reason; a failed training has a non-zero exit code."""
    (line,) = outputs["nightly"].splitlines()
    outcome = json.loads(line)
    assert set(outcome) == {"promoted", "model", "sentence"}
    assert isinstance(outcome["promoted"], bool)
    assert "web:" in outcome["sentence"]
    (line,) = outputs["a night without training data"].splitlines()
    assert json.loads(line)["problem"]["detail"]


def test_quiet_leaves_nothing_but_the_result(stack: EmbeddedStack, outputs: dict[str, str]) -> None:
    """--quiet prints nothing else, so that cron sends no mail."""
    shell = subprocess.run(
        [
            sys.executable,
            "-m",
            "rankery",
            "models",
            "list",
            "-q",
            "--json",
            "--data-dir",
            str(stack.data_dir),
        ],
        capture_output=True,
        text=True,
    )
    assert shell.stderr == ""
    assert {model["name"] for model in json.loads(shell.stdout)} == {"web"}
