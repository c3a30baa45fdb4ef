"""Studies over HTTP: checked at submission, paused, extended, cloned and cancelled."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from app.settings import ApiSettings
from app.studies.requests import MAX_TRIALS
from core.store import Store
from core.store.repositories.studies import TrialResult
from tests.app.conftest import TestClient, error_pointers
from tests.app.http.conftest import eventually, waits_for_a_lock

LEAVES = "/hyperparameters/num_leaves"
RATE = "/hyperparameters/learning_rate"


@pytest.fixture
def request_of(ready_dataset: Callable[[], str]) -> Callable[..., dict[str, Any]]:
    """Function that returns requests for studies of a ready dataset."""
    dataset_id = ready_dataset()

    def body(**changed: Any) -> dict[str, Any]:
        return {
            "name": "leaves",
            "model_name": "web",
            "dataset_id": dataset_id,
            "test": {"fraction": 0.4},
            "base": {"loss": {"name": "lambdarank"}},
            "search_space": {LEAVES: {"type": "int", "low": 4, "high": 64, "log": True}},
            "objective": {"metric": "ndcg@10", "validation": {"fraction": 0.5}},
            "budget": {"trials": 5},
            "parallel_trials": 2,
            **changed,
        }

    return body


def test_a_study_begins_with_its_default(client: TestClient, request_of: Callable[..., Any]) -> None:
    """As many trials are queued as may run at a time; number 0 is the base."""
    study = client.post("/v1/studies", json=request_of())
    assert study.status_code == 202, study.text
    document = study.json()
    assert document["status"] == "running"
    assert document["counts"]["asked"] == document["counts"]["queued"] == 2
    assert document["base"]["hyperparameters"]["num_leaves"] == 31
    trials = client.get(f"/v1/studies/{document['id']}/trials").json()["items"]
    assert [(trial["number"], trial["source"]) for trial in trials] == [(0, "default"), (1, "sampler")]
    job = client.get(f"/v1/jobs/{trials[0]['job_id']}").json()
    assert (job["kind"], job["title"]) == ("trial", "leaves, trial 0")
    assert [each["id"] for each in client.get("/v1/studies?prefix=lea").json()["items"]] == [document["id"]]


@pytest.mark.parametrize(
    ("space", "place"),
    [
        (
            {"/hyperparameters/num_leafs": {"type": "int", "low": 4, "high": 9}},
            "~1hyperparameters~1num_leafs",
        ),
        ({LEAVES: {"type": "int", "low": 1, "high": 9}}, "~1hyperparameters~1num_leaves/low"),
        ({LEAVES: {"type": "float", "low": 2.5, "high": 9}}, "~1hyperparameters~1num_leaves"),
        ({LEAVES: {"type": "int", "low": 9, "high": 4}}, "~1hyperparameters~1num_leaves/high"),
        (
            {RATE: {"type": "float", "low": 0.1, "high": 0.3, "step": 1e-320}},
            "~1hyperparameters~1learning_rate/step",
        ),
        ({"/loss/name": {"type": "choice", "choices": ["lambdarank", "nonesuch"]}}, "~1loss~1name/choices/1"),
        ({"/seed": {"type": "int", "low": 1, "high": 2}}, "~1seed"),
        ({"/loss/mu": {"type": "float", "low": 1.0, "high": 2.0}}, "~1loss~1mu"),
        ({RATE: {"type": "choice", "choices": [["fast"]]}}, "~1hyperparameters~1learning_rate/choices/0"),
        ({"/loss/sigma": {"type": "choice", "choices": [1.0, 10**400]}}, "~1loss~1sigma/choices/1"),
        ({"/loss/gain": {"type": "choice", "choices": ["exp2", ["a"]]}}, "~1loss~1gain/choices/1"),
    ],
)
def test_a_search_space_with_values_that_no_training_accepts_is_refused(
    client: TestClient, request_of: Callable[..., Any], space: dict[str, Any], place: str
) -> None:
    """The error has the pointer of the refused value, and no other value has an error."""
    refused = client.post("/v1/studies", json=request_of(search_space=space))
    assert error_pointers(refused) == [f"/search_space/{place}"]


def test_a_prefix_of_a_name_is_not_its_parent(client: TestClient, request_of: Callable[..., Any]) -> None:
    """`feature_fraction` is not a parent of `feature_fraction_bynode`, whose problems keep their pointer."""
    longer = "/hyperparameters/feature_fraction_bynode"
    space = {
        "/hyperparameters/feature_fraction": {"type": "float", "low": 0.5, "high": 1.0},
        longer: {"type": "choice", "choices": [1.0, 2.0]},
        RATE: {"type": "float", "low": 0.1, "high": 0.2, "when": {longer: [1.0, 2.0]}},
    }
    refused = client.post("/v1/studies", json=request_of(search_space=space))
    details = {error["pointer"]: error["detail"] for error in refused.json()["errors"]}
    own = details["/search_space/~1hyperparameters~1feature_fraction_bynode/choices/1"]
    other = details["/search_space/~1hyperparameters~1feature_fraction"]
    assert other == f"{longer}: {own}"


def test_a_parameter_of_one_loss_needs_its_condition(
    client: TestClient, request_of: Callable[..., Any]
) -> None:
    """A hyperparameter of a single loss is searched for that loss alone."""
    losses = {"type": "choice", "choices": [{"name": "lambdarank"}, {"name": "ndcg-loss2++"}]}
    mu = {"type": "float", "low": 1.0, "high": 10.0}
    refused = client.post("/v1/studies", json=request_of(search_space={"/loss": losses, "/loss/mu": mu}))
    assert error_pointers(refused) == ["/search_space/~1loss~1mu"]
    conditional = {**mu, "when": {"/loss/name": ["ndcg-loss2++"]}}
    accepted = client.post(
        "/v1/studies", json=request_of(search_space={"/loss": losses, "/loss/mu": conditional})
    )
    assert accepted.status_code == 202, accepted.text


def test_a_study_needs_queries_for_its_conclusion(client: TestClient, request_of: Callable[..., Any]) -> None:
    """Without a test part or a test dataset, the error has the pointer `/test`."""
    assert "/test" in error_pointers(client.post("/v1/studies", json=request_of(test=None)))


def test_parameters_of_a_network_are_tuned_under_scorer(
    client: TestClient, request_of: Callable[..., Any]
) -> None:
    """Bounds are those of the scorer's parameters; trial 0 has the values of the base."""
    base = {"loss": {"name": "lambdarank"}, "scorer": {"kind": "mlp", "hidden": [8], "epochs": 3}}
    space: dict[str, Any] = {
        "/scorer/learning_rate": {"type": "float", "low": 0.001, "high": 0.1, "log": True},
        "/scorer/hidden": {"type": "choice", "choices": [[8], [16, 8]]},
    }
    study = client.post("/v1/studies", json=request_of(base=base, search_space=space))
    assert study.status_code == 202, study.text
    document = study.json()
    assert (document["base"]["scorer"]["epochs"], document["base"]["hyperparameters"]) == (3, {})
    refusals: list[tuple[dict[str, Any], str]] = [
        ({"/scorer/learning_rate": {"type": "float", "low": 0.0, "high": 1.0}}, "/low"),
        ({"/scorer/hidden": {"type": "choice", "choices": [[8], []]}}, "/choices/1"),
        ({"/scorer/depth": {"type": "int", "low": 1, "high": 2}}, ""),
        ({"/scorer": {"type": "choice", "choices": [{"kind": "mlp"}]}}, ""),
        ({LEAVES: {"type": "int", "low": 4, "high": 64}}, ""),
    ]
    for space, suffix in refusals:
        refused = client.post("/v1/studies", json=request_of(base=base, search_space=space))
        pointer = "/search_space/" + next(iter(space)).replace("/", "~1") + suffix
        assert error_pointers(refused)[0] == pointer, space


def test_a_study_of_a_sum_model_is_refused(client: TestClient, request_of: Callable[..., Any]) -> None:
    """The weights of a sum are fitted without tuning."""
    base = {"loss": {"name": "mse"}, "scorer": {"kind": "sum", "models": ["web:1"]}}
    assert error_pointers(client.post("/v1/studies", json=request_of(base=base))) == ["/base/scorer/kind"]


def test_trials_are_not_distributed(client: TestClient, request_of: Callable[..., Any]) -> None:
    """A distribution is refused with the reason, in the base and in the study; null is accepted."""
    request = {"ranks": {"at_most": 4}}
    base = {"loss": {"name": "lambdarank"}, "distribution": request}
    for body, pointer in (
        (request_of(base=base), "/base/distribution"),
        (request_of(distribution=request), "/distribution"),
    ):
        refused = client.post("/v1/studies", json=body)
        assert error_pointers(refused) == [pointer]
        assert refused.json()["errors"][0]["detail"].startswith("can only be used for single trainings")
    base["distribution"] = None
    study = client.post("/v1/studies", json=request_of(base=base))
    assert study.status_code == 202, study.text
    assert "distribution" not in study.json()["base"]


def test_mistakes_of_a_scorer_have_a_pointer(client: TestClient, request_of: Callable[..., Any]) -> None:
    """A hyperparameter that the scorer does not have is reported below `/base`."""
    base = {"loss": {"name": "mse"}, "scorer": {"kind": "mlp"}, "hyperparameters": {"num_leaves": 4}}
    refused = client.post("/v1/studies", json=request_of(base=base))
    assert error_pointers(refused) == ["/base/hyperparameters/num_leaves"]


def test_mistakes_of_the_base_have_a_pointer(client: TestClient, request_of: Callable[..., Any]) -> None:
    """A mistake in the training that trials vary has a pointer below `/base`."""
    base = {"loss": {"name": "lambdarank"}, "label_map": {"x": 1.0}}
    assert error_pointers(client.post("/v1/studies", json=request_of(base=base)))[0].startswith(
        "/base/label_map"
    )


def test_a_paused_study_is_extended_and_resumed(client: TestClient, request_of: Callable[..., Any]) -> None:
    """A study is paused, gets a larger budget and a trial by hand, and is resumed."""
    study_id = client.post("/v1/studies", json=request_of()).json()["id"]
    assert client.post(f"/v1/studies/{study_id}/pause").json()["status"] == "paused"
    assert client.post(f"/v1/studies/{study_id}/pause").status_code == 409
    assert client.patch(f"/v1/studies/{study_id}", json={"trials": 9}).json()["budget"]["trials"] == 9
    added = client.post(f"/v1/studies/{study_id}/trials", json={"parameters": {LEAVES: 8}})
    assert (added.status_code, added.json()["source"]) == (202, "hand")
    resumed = client.post(f"/v1/studies/{study_id}/resume").json()
    assert (resumed["status"], resumed["budget"]["trials"], resumed["counts"]["asked"]) == ("running", 10, 3)


def test_a_trial_by_hand_does_not_use_up_the_patience(
    client: TestClient, store: Store, request_of: Callable[..., Any]
) -> None:
    """After a trial by hand without a new best, a study of patience 1 continues."""
    budget = {"trials": 5, "patience": 1}
    request = request_of(budget=budget, parallel_trials=1)
    study_id = client.post("/v1/studies", json=request).json()["id"]
    by_hand = client.post(f"/v1/studies/{study_id}/trials", json={"parameters": {LEAVES: 8}}).json()
    with store.begin() as tx:
        (default, _) = tx.studies.trials(study_id)
        claimed = tx.jobs.claim(default.job_id, "w1", 15)
        assert claimed is not None
        tx.studies.start_trial(tx.studies.get(study_id), default, {}, {})
        tx.studies.end_trial(study_id, 0, TrialResult("succeeded", 0.5, [], None, [], 1))
        tx.jobs.succeed(default.job_id, claimed.token, {})
    assert client.post(f"/v1/jobs/{by_hand['job_id']}/cancel").status_code == 202
    assert client.get(f"/v1/studies/{study_id}").json()["status"] == "running"
    items = client.get(f"/v1/studies/{study_id}/trials").json()["items"]
    assert [trial["source"] for trial in items] == ["default", "hand", "sampler"]


@pytest.mark.parametrize("parameters", [{}, {LEAVES: 65}, {LEAVES: 8, RATE: 0.1}])
def test_trials_by_hand_must_be_in_the_search_space(
    client: TestClient, request_of: Callable[..., Any], parameters: dict[str, Any]
) -> None:
    """Missing, unknown and invalid values are refused."""
    study_id = client.post("/v1/studies", json=request_of()).json()["id"]
    refused = client.post(f"/v1/studies/{study_id}/trials", json={"parameters": parameters})
    assert error_pointers(refused)[0].startswith("/parameters/")


def test_a_cancelled_study_leaves_no_job(
    client: TestClient, request_of: Callable[..., Any], store: Store
) -> None:
    """Cancelling stops every job and queues none; a cancelled study can be deleted and restored."""
    study_id = client.post("/v1/studies", json=request_of()).json()["id"]
    assert client.delete(f"/v1/studies/{study_id}").status_code == 409
    cancelled = client.post(f"/v1/studies/{study_id}/cancel").json()
    assert (cancelled["status"], cancelled["counts"]["cancelled"]) == ("cancelled", 2)
    with store.read() as tx:
        assert {job.status for job in tx.jobs.page(None, 50).items} == {"cancelled"}
        (event,) = tx.events.after(0, 50, kinds=["study.concluded"])
    assert (event.object_id, event.data["status"], event.data["name"]) == (study_id, "cancelled", "leaves")
    assert client.delete(f"/v1/studies/{study_id}").status_code == 204
    for path in ("", "/trials", "/importance"):
        assert client.get(f"/v1/studies/{study_id}{path}").status_code == 404
    (item,) = client.get("/v1/trash?kind=study").json()["items"]
    assert (item["id"], item["name"]) == (study_id, "leaves")
    restored = client.post("/v1/trash/restore", json={"ids": [study_id]}).json()
    assert restored == {"restored": {"studies": 1}, "missing": []}
    assert client.get(f"/v1/studies/{study_id}").json() == cancelled
    assert len(client.get(f"/v1/studies/{study_id}/trials").json()["items"]) == 2


@pytest.mark.servers
def test_cancelled_jobs_of_a_study_are_locked_one_at_a_time(
    client: TestClient, request_of: Callable[..., Any], store: Store
) -> None:
    """A request that cancels two trials waits for a worker that ends one of them; neither fails."""
    client.post("/v1/studies", json=request_of())
    with store.read() as tx:
        first, second = sorted(job.id for job in tx.jobs.page(None, 50).items)
    with ThreadPoolExecutor(1) as requests:
        with store.begin() as tx:
            tx.jobs.locked(second)
            answer = requests.submit(client.post, "/v1/jobs/cancel", json={"ids": [first, second]})
            eventually(lambda: waits_for_a_lock(store))
            tx.jobs.request_cancel(second)  # locks the study
        items = answer.result().json()["items"]
    assert [each["outcome"] for each in items] == ["cancelled", "already_ended"]


def test_a_clone_has_the_specification_and_no_trials(
    client: TestClient, request_of: Callable[..., Any]
) -> None:
    """A clone is a new study with the given changes."""
    first = client.post("/v1/studies", json=request_of(seed=3)).json()
    clone = client.post(f"/v1/studies/{first['id']}/clone", json={"name": "again", "budget": {"trials": 7}})
    assert clone.status_code == 202, clone.text
    second = clone.json()
    assert (second["name"], second["seed"], second["budget"]["trials"]) == ("again", 3, 7)
    assert second["search_space"] == first["search_space"]
    assert second["counts"]["asked"] == 2


def test_a_clone_is_in_the_project_of_its_study(client: TestClient, request_of: Callable[..., Any]) -> None:
    """The project of the dataset differs, and the study has ended without a model."""
    first = client.post("/v1/studies", json=request_of(project="web")).json()
    client.patch(f"/v1/datasets/{first['dataset_id']}", json={"project": "data"})
    client.post(f"/v1/studies/{first['id']}/cancel")
    clone = client.post(f"/v1/studies/{first['id']}/clone", json={})
    assert (clone.status_code, clone.json().get("project")) == (202, "web")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"trials": 7}, {"trials": 7, "seconds": 60.0, "patience": 4}),
        ({"seconds": None}, {"trials": 5, "seconds": None, "patience": 4}),
    ],
)
def test_a_clone_keeps_the_limits_that_are_not_changed(
    client: TestClient,
    request_of: Callable[..., Any],
    changes: dict[str, Any],
    expected: dict[str, Any],
) -> None:
    """Omitted fields of the budget have the values of the cloned study, and null removes a limit."""
    budget = {"trials": 5, "seconds": 60.0, "patience": 4}
    first = client.post("/v1/studies", json=request_of(budget=budget)).json()
    clone = client.post(f"/v1/studies/{first['id']}/clone", json={"budget": changes})
    assert clone.status_code == 202, clone.text
    assert clone.json()["budget"] == expected


def test_a_study_with_more_trials_than_a_request_may_have_is_cloned(
    client: TestClient, request_of: Callable[..., Any]
) -> None:
    """A trial by hand extends a budget beyond the maximum of a request; the clone has the maximum."""
    first = client.post("/v1/studies", json=request_of(budget={"trials": MAX_TRIALS})).json()
    client.post(f"/v1/studies/{first['id']}/trials", json={"parameters": {LEAVES: 8}})
    clone = client.post(f"/v1/studies/{first['id']}/clone", json={})
    assert clone.status_code == 202, clone.text
    assert clone.json()["budget"]["trials"] == MAX_TRIALS


class TestQuota:
    """Changes of studies whose trials exceed the quota of jobs."""

    @pytest.fixture
    def settings(self, settings: ApiSettings) -> ApiSettings:
        """Settings that allow two active jobs."""
        return settings.model_copy(update={"max_active_jobs": 2})

    def test_further_trials_beyond_the_quota_are_refused(
        self, client: TestClient, request_of: Callable[..., Any]
    ) -> None:
        """More parallel trials are queued only within the quota; a refused change changes nothing.

        A client that repeats a request with status 429 would repeat a change above the quota for ever.
        """
        study = client.post("/v1/studies", json=request_of(parallel_trials=1)).json()
        path = f"/v1/studies/{study['id']}"
        refused = client.patch(path, json={"parallel_trials": 3})
        assert (refused.status_code, refused.json().get("type")) == (409, "/problems/job-quota-too-small")
        study = client.get(path).json()
        assert (study["parallel_trials"], study["counts"]["asked"]) == (1, 1)
        assert client.patch(path, json={"parallel_trials": 2}).json()["counts"]["asked"] == 2
        assert client.patch(path, json={"trials": 9}).status_code == 200

    def test_a_study_is_resumed_within_the_quota(
        self, client: TestClient, request_of: Callable[..., Any], train_request: dict[str, Any]
    ) -> None:
        """Jobs that were submitted during the pause count."""
        study = client.post("/v1/studies", json=request_of(parallel_trials=1)).json()
        path = f"/v1/studies/{study['id']}"
        client.post(f"{path}/pause")
        client.patch(path, json={"parallel_trials": 2})
        job = client.post("/v1/jobs", json=train_request).json()
        refused = client.post(f"{path}/resume")
        assert (refused.status_code, refused.json().get("type")) == (429, "/problems/too-many-jobs")
        assert client.get(path).json()["status"] == "paused"
        client.post(f"/v1/jobs/{job['id']}/cancel")
        client.patch(path, json={"parallel_trials": 3})
        refused = client.post(f"{path}/resume")
        assert (refused.status_code, refused.json().get("type")) == (409, "/problems/job-quota-too-small")
        client.patch(path, json={"parallel_trials": 2})
        assert client.post(f"{path}/resume").json()["counts"]["asked"] == 2


def test_a_failed_default_fails_the_study(
    client: TestClient, request_of: Callable[..., Any], store: Store
) -> None:
    """Without a default, no comparison is possible, so no further trial is queued."""
    study_id = client.post("/v1/studies", json=request_of(parallel_trials=1)).json()["id"]
    with store.begin() as tx:
        (job_id,) = tx.studies.active_jobs(study_id)
        job = tx.jobs.claim(job_id, "w1", 30.0)
        assert job is not None
        tx.jobs.fail(job.id, job.token, {"title": "Out of memory", "detail": "There was not enough."})
    study = client.get(f"/v1/studies/{study_id}").json()
    assert (study["status"], study["counts"]["asked"]) == ("failed", 1)
    assert study["problem"]["detail"] == "There was not enough."


def test_a_grid_has_a_trial_for_each_combination(
    client: TestClient, request_of: Callable[..., Any], store: Store
) -> None:
    """A grid ends with its combinations, whatever the budget; the default is not tried twice."""
    space = {LEAVES: {"type": "choice", "choices": [7, 15, 31]}}
    grid = {"search_space": space, "sampler": "grid", "budget": {"trials": 50}, "parallel_trials": 8}
    study = client.post("/v1/studies", json=request_of(**grid)).json()
    assert study["counts"]["asked"] == 3
    without_step = {RATE: {"type": "float", "low": 0.1, "high": 0.3}}
    refused = client.post("/v1/studies", json=request_of(**{**grid, "search_space": without_step}))
    assert error_pointers(refused) == ["/search_space/~1hyperparameters~1learning_rate/step"]


def test_importance_is_empty_before_there_are_trials(
    client: TestClient, request_of: Callable[..., Any]
) -> None:
    """The answer names its method and has no values."""
    study_id = client.post("/v1/studies", json=request_of()).json()["id"]
    importance = client.get(f"/v1/studies/{study_id}/importance").json()
    assert importance == {"method": "ped-anova", "trials": 0, "importances": {}}


def test_a_folded_list_of_jobs_has_only_the_last_trial(
    client: TestClient, request_of: Callable[..., Any], store: Store
) -> None:
    """Earlier trials and candidates of automatic trainings are left out, and other jobs are kept."""
    study = client.post("/v1/studies", json=request_of(parallel_trials=3)).json()
    with store.begin() as tx:
        tx.jobs.add("try-candidates", {"auto_train_id": "job_1", "model_name": "web"})
        training = tx.jobs.add("train", {"model_name": "web"}).id
    trials = client.get(f"/v1/studies/{study['id']}/trials").json()["items"]
    whole, folded = (client.get(f"/v1/jobs?folded={folded}").json()["items"] for folded in (False, True))
    left_out = {job["id"] for job in whole} - {job["id"] for job in folded}
    candidates = {job["id"] for job in whole if job["kind"] == "try-candidates"}
    assert left_out == candidates | {trial["job_id"] for trial in trials[:-1]}
    assert {training, trials[-1]["job_id"]} <= {job["id"] for job in folded}
