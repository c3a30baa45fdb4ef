"""Taking in a model from elsewhere."""

import shutil

from core.store import new_id
from core.store.result_keys import model_key, model_upload_folder, model_upload_key
from worker.jobs import JobRun
from worker.lineage import lineage_of
from worker.model_trials import try_model


def run_model_import(run: JobRun) -> None:
    """Try out a LightGBM text model and make it the next version of a name; what was sent then goes.

    Raises:
        ModelError: It cannot be used; nothing of it is kept.
    """
    spec = run.spec
    run.consumes(model_upload_folder(spec["upload_id"]))
    run.phase("checking")
    model_id = new_id("mdl_")
    with run.store.artifacts.local(model_upload_key(spec["upload_id"])) as path:
        found = try_model(run, path)
        run.phase("storing")
        with path.open("rb") as sent, run.writing(model_key(model_id)) as file:
            shutil.copyfileobj(sent, file)
    with run.succeeding({"model_id": model_id}) as tx:
        tx.models.add(
            model_id,
            name=spec["model_name"],
            job_id=run.id,
            feature_names=found["feature_names"],
            best_iteration=found["n_trees"],
            sha256=spec["sha256"],
            size_bytes=spec["size_bytes"],
            description=spec["description"],
            tags=spec["tags"],
            lineage=lineage_of(tx, run.id, spec),
            explanation=found["explainability"],
        )
