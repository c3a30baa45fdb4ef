"""Names, notes, tags and projects over HTTP: given at submission, changed, and used as filters."""

from collections.abc import Callable
from typing import Any

import pytest

from core.store import Model, Store
from tests.app.auth.foreign_project import PROJECT, fill
from tests.app.conftest import TestClient, error_pointers

CSV = b"label,query_id,bm25\n1,q1,0.5\n0,q1,0.1\n"


def test_a_job_is_labelled_at_submission(client: TestClient, train_request: dict[str, Any]) -> None:
    """The specification has no labels except the tags of the model."""
    labels = {
        "name": "few leaves",
        "notes": "as of May\nagain",
        "tags": {"team": "search"},
        "project": "web",
    }
    job = client.post("/v1/jobs", json={**train_request, **labels}).json()
    assert {name: job[name] for name in labels} == labels
    assert job["title"] == "few leaves"
    assert job["spec"]["tags"] == labels["tags"]
    assert not {"name", "notes", "project"} & set(job["spec"])


def test_other_jobs_have_separate_tags(client: TestClient, add_model: Callable[..., Model]) -> None:
    """The specification of a job that makes no model has no tags."""
    model = add_model("web")
    request = {"kind": "rank", "model": "web", "dataset_id": model.dataset_id, "tags": {"a": "b"}}
    job = client.post("/v1/jobs", json=request).json()
    assert (job["tags"], job["name"], job["title"]) == ({"a": "b"}, None, "web:1")
    assert "tags" not in job["spec"]


def test_a_batch_is_labelled_job_by_job(client: TestClient, train_request: dict[str, Any]) -> None:
    """Repeats share their labels and are numbered by a tag."""
    body = {"jobs": [{**train_request, "name": "grid", "bootstrap": True}], "repeats": {"count": 2}}
    jobs = client.post("/v1/jobs/batch", json=body).json()["jobs"]
    assert [(job["name"], job["tags"]["repeat"]) for job in jobs] == [("grid", "1"), ("grid", "2")]


def test_a_job_is_relabelled(client: TestClient, train_request: dict[str, Any]) -> None:
    """Omitted fields are unchanged; null restores the title or removes notes, a tag or the project."""
    path = client.post("/v1/jobs", json={**train_request, "tags": {"a": "1"}}).headers["location"]
    changed = client.patch(path, json={"name": "best", "notes": "?", "tags": {"b": "2"}, "project": "web"})
    assert changed.status_code == 200, changed.text
    job = changed.json()
    assert (job["title"], job["notes"], job["tags"]) == ("best", "?", {"a": "1", "b": "2"})
    assert job["project"] == "web"
    job = client.patch(path, json={"name": None, "notes": None, "tags": {"a": None}}).json()
    assert (job["title"], job["name"], job["notes"], job["tags"]) == ("web", None, None, {"b": "2"})
    assert job["project"] == "web"
    assert client.patch(path, json={"project": None}).json()["project"] is None
    assert client.get(path).json()["tags"] == {"b": "2"}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": "a\u202eb"}, "/name"),
        ({"notes": "x" * 4001}, "/notes"),
        ({"project": "No Name"}, "/project"),
        ({"tags": {"a": 1}}, "/tags/a"),
        ({"status": "failed"}, "/status"),
    ],
)
def test_invalid_labels_are_refused(
    client: TestClient, train_request: dict[str, Any], body: dict[str, Any], pointer: str
) -> None:
    """The error points at the label."""
    path = client.post("/v1/jobs", json=train_request).headers["location"]
    assert error_pointers(client.patch(path, json=body)) == [pointer]


def test_jobs_are_listed_by_tag_and_project(client: TestClient, train_request: dict[str, Any]) -> None:
    """All filters must match; a response cached for one filter is not used for another."""
    for project, tags in (("web", {"a": "1"}), ("web", {"b": "2"}), ("ads", {"a": "2"})):
        request = {**train_request, "model_name": f"of-{project}", "project": project, "tags": tags}
        assert client.post("/v1/jobs", json=request).status_code == 202
    for query, number in (
        ("project=web", 2),
        ("tag=a", 2),
        ("tag=a:2", 1),
        ("tag=a&project=web", 1),
        ("tag=a&tag=b", 0),
        ("project=none", 0),
        ("project=-", 0),
    ):
        assert len(client.get(f"/v1/jobs?{query}").json()["items"]) == number, query
    assert error_pointers(client.get("/v1/jobs?project=No%20Name")) == ["/project"]
    assert error_pointers(client.post("/v1/jobs/delete", json={"filter": {"project": "No"}})) == [
        "/filter/project"
    ]
    assert client.get("/v1/jobs?fields=project&project=ads").json()["items"][0]["project"] == "ads"


def test_objects_without_a_project_are_found(
    client: TestClient, train_request: dict[str, Any], add_model: Callable[..., Model]
) -> None:
    """`-` selects objects without a project in lists, counts, searches and bulk operations."""
    job_path = client.post("/v1/jobs", json={**train_request, "project": "web"}).headers["location"]
    loose = add_model("loose")
    for path in ("jobs", "datasets", "models", "evaluations", "comparisons", "rankings", "model-names"):
        shown = client.get(f"/v1/{path}?project=-").json()["items"]
        assert {each.get("project") for each in shown} <= {None}, path
    assert [job["id"] for job in client.get("/v1/jobs?project=-").json()["items"]] == [loose.job_id]
    for path in ("studies", "experiments", "drift-reports", "aliases?alias=champion"):
        assert client.get(f"/v1/{path}{'&' if '?' in path else '?'}project=-").json()["items"] == []
    counts = client.get("/v1/counts?project=-").json()
    assert (counts["jobs"]["queued"], counts["models"]) == (1, 1)
    hits = client.get("/v1/search?text=job_&project=-").json()["items"]
    assert {hit["id"] for hit in hits} == {loose.job_id}
    deletion = client.post("/v1/jobs/delete", json={"filter": {"project": "-"}}).json()
    assert [refused["id"] for refused in deletion["refused"]] == [loose.job_id]
    client.patch(job_path, json={"project": None})
    assert len(client.get("/v1/jobs?project=-").json()["items"]) == 2


def test_a_model_has_a_title_beside_its_name(client: TestClient, add_model: Callable[..., Model]) -> None:
    """A title belongs to one version; the name is the identity of a model and cannot be changed."""
    add_model("web")
    add_model("web")
    model = client.patch("/v1/models/web:1", json={"title": "The spring model"}).json()
    assert (model["title"], model["name"], model["version"]) == ("The spring model", "web", 1)
    assert client.get("/v1/models/web:2").json()["title"] is None
    assert error_pointers(client.patch("/v1/models/web:1", json={"name": "other"})) == ["/name"]


def test_a_name_moves_with_all_its_versions(client: TestClient, add_model: Callable[..., Model]) -> None:
    """Models and model names are listed by project."""
    add_model("web")
    add_model("web")
    add_model("ads")
    assert client.patch("/v1/models/web:1", json={"project": "search"}).json()["project"] == "search"
    models = client.get("/v1/models?project=search").json()["items"]
    assert [(model["version"], model["project"]) for model in models] == [(2, "search"), (1, "search")]
    names = client.get("/v1/model-names?project=search").json()["items"]
    assert [(each["name"], each["latest"]["project"]) for each in names] == [("web", "search")]


def test_a_dataset_is_uploaded_into_a_project_and_renamed(client: TestClient) -> None:
    """The form of an upload has a field for the project; the ingestion job follows its dataset."""
    file = {"file": ("a.csv", CSV)}
    dataset = client.post("/v1/datasets", data={"project": "web", "name": "clicks"}, files=file).json()
    assert dataset["project"] == "web"
    job = client.get("/v1/jobs?project=web").json()["items"][0]
    assert (job["kind"], job["project"]) == ("ingest", "web")
    path = f"/v1/datasets/{dataset['id']}"
    changed = client.patch(path, json={"name": "clicks of May", "project": "ads"}).json()
    assert (changed["name"], changed["project"]) == ("clicks of May", "ads")
    assert client.get(f"/v1/jobs/{job['id']}").json()["project"] == "ads"
    assert client.get("/v1/datasets?project=web").json()["items"] == []
    assert error_pointers(client.patch(path, json={"name": None})) == ["/name"]
    assert error_pointers(client.post("/v1/datasets", data={"project": "No"}, files=file)) == ["/project"]


def test_other_objects_are_created_in_a_project(client: TestClient, store: Store) -> None:
    """Synthetic datasets, experiments with their datasets, and imported models have a project."""
    drawn = client.post("/v1/datasets/synthetic", json={"queries": 5, "project": "web"}).json()
    assert drawn["project"] == "web"
    experiment = client.post(
        "/v1/experiments",
        json={"paper": "lambda-ex-2023", "tables": ["table-5"], "data": "sparse", "project": "web"},
    ).json()
    assert experiment["project"] == "web"
    for each in experiment["datasets"]:
        assert client.get(f"/v1/datasets/{each['dataset_id']}").json()["project"] == "web"
    file = {"file": ("model.txt", b"tree\n")}
    imported = client.post("/v1/models", data={"name": "web", "project": "ads"}, files=file).json()
    assert imported["project"] == "ads"
    again = client.post("/v1/models", data={"name": "web", "project": "web"}, files=file)
    assert error_pointers(again) == ["/project"]


def test_experiments_of_two_projects_share_nothing(client: TestClient) -> None:
    """Each experiment has separate datasets of the same content."""
    body = {"paper": "lambda-ex-2023", "tables": ["table-5"], "data": "sparse"}
    first, second, third = (
        client.post("/v1/experiments", json={**body, "project": project}).json()
        for project in ("web", "ads", "web")
    )
    ids = [{each["dataset_id"] for each in one["datasets"]} for one in (first, second, third)]
    assert ids[0] == ids[2]
    assert not ids[0] & ids[1]


def test_projects_are_listed_with_the_numbers_of_their_objects(
    client: TestClient, train_request: dict[str, Any], add_model: Callable[..., Model]
) -> None:
    """Objects without a project are counted too; a project without objects is not listed."""
    path = client.post("/v1/jobs", json={**train_request, "project": "web"}).headers["location"]
    add_model("ads")
    listing = client.get("/v1/projects").json()
    assert [(each["name"], each["jobs"], each["models"]) for each in listing["items"]] == [("web", 1, 0)]
    assert (listing["unassigned"]["jobs"], listing["unassigned"]["models"], listing["bound"]) == (1, 1, False)
    assert client.get("/v1/counts?project=web").json()["jobs"]["queued"] == 1
    assert [hit["project"] for hit in client.get("/v1/search?text=web&project=web").json()["items"]] == [
        "web"
    ]
    client.patch(path, json={"project": None})
    assert client.get("/v1/projects").json()["items"] == []


def test_objects_of_every_kind_are_counted(client: TestClient, store: Store) -> None:
    """A project with an object of each kind has no count of zero."""
    fill(store)
    (project,) = client.get("/v1/projects").json()["items"]
    assert project.pop("name") == PROJECT
    assert {"click_logs", "drift_reports", "interleavings", "schedules"} <= project.keys()
    assert all(project.values())


def test_a_training_of_a_foreign_name_is_refused(
    client: TestClient, train_request: dict[str, Any], add_model: Callable[..., Model]
) -> None:
    """The error names a remedy; without a project, the job gets the project of the name."""
    add_model("web")
    client.patch("/v1/models/web", json={"project": "search"})
    refused = client.post("/v1/jobs", json={**train_request, "project": "ads"})
    assert error_pointers(refused) == ["/project"]
    assert "PATCH /v1/models/web" in refused.json()["detail"]
    assert client.post("/v1/jobs", json=train_request).json()["project"] == "search"
    batch = {"jobs": [train_request, {**train_request, "project": "ads"}]}
    assert client.post("/v1/jobs/batch", json=batch).status_code == 422


def test_many_jobs_are_labelled_by_a_filter(client: TestClient, train_request: dict[str, Any]) -> None:
    """A dry run is the default and changes nothing; the next request changes the announced jobs."""
    for number, tags in enumerate(({"team": "ads", "draft": "1"}, {}, {"team": "search"})):
        request = {**train_request, "model_name": f"m{number}", "tags": tags}
        assert client.post("/v1/jobs", json=request).status_code == 202
    body = {"filter": {"project": "-"}, "tags": {"team": "search", "draft": None}}
    planned = client.post("/v1/jobs/labels", json=body).json()
    assert (planned["dry_run"], planned["changed"], planned["unchanged"]) == (True, 2, 1)
    assert len(client.get("/v1/jobs?tag=team:search").json()["items"]) == 1
    done = client.post("/v1/jobs/labels", json={**body, "project": "web", "dry_run": False}).json()
    assert (done["dry_run"], done["changed"], done["complete"]) == (False, 3, True)
    jobs = client.get("/v1/jobs?project=web").json()["items"]
    assert [job["tags"] for job in jobs] == [{"team": "search"}] * 3
    assert client.post("/v1/jobs/labels", json=body).json()["changed"] == 0
    back = {"ids": [jobs[0]["id"], "job_00000000000000000000"], "project": None, "dry_run": False}
    one = client.post("/v1/jobs/labels", json=back).json()
    assert (one["changed"], one["missing"]) == (1, ["job_00000000000000000000"])
    assert len(client.get("/v1/jobs?project=web").json()["items"]) == 2


def test_models_move_with_all_versions_of_their_names(
    client: TestClient, add_model: Callable[..., Model]
) -> None:
    """The answer lists these names; tags are set only on the selected versions."""
    for name in ("web", "web", "ads"):
        add_model(name)
    body = {"ids": ["web:2", "ads"], "project": "search", "tags": {"a": "b"}}
    planned = client.post("/v1/models/labels", json=body).json()
    assert (planned["changed"], planned["moved_names"]) == (2, ["ads", "web"])
    assert client.get("/v1/models?project=search").json()["items"] == []
    done = client.post("/v1/models/labels", json={**body, "dry_run": False}).json()
    assert {**done, "dry_run": True} == planned
    models = client.get("/v1/models?project=search").json()["items"]
    assert {(model["name"], model["version"]): model["tags"] for model in models} == {
        ("web", 1): {},
        ("web", 2): {"a": "b"},
        ("ads", 1): {"a": "b"},
    }


def test_a_model_with_too_many_tags_keeps_its_labels(
    client: TestClient, add_model: Callable[..., Model]
) -> None:
    """The refused model is listed with the reason; the others are labelled."""
    first, _ = add_model("web"), add_model("web")
    many = {f"t{number}": "" for number in range(64)}
    client.patch("/v1/models/web:1", json={"tags": many})
    body = {"filter": {"all": True}, "tags": {"one-more": ""}}
    for dry_run in (True, False):
        answer = client.post("/v1/models/labels", json={**body, "dry_run": dry_run}).json()
        assert (answer["changed"], answer["refused_count"]) == (1, 1)
        assert answer["refused"][0]["reason"] == "would result in 65 tags; the maximum is 64"
    alone = {"ids": [first.id], "tags": {"one-more": ""}, "project": "search", "dry_run": False}
    assert client.post("/v1/models/labels", json=alone).json()["refused_count"] == 1
    model = client.get("/v1/models/web:1").json()
    assert (model["tags"], model["project"]) == (many, None)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"ids": ["job_1"]}, ""),
        ({"ids": ["job_1"], "filter": {"all": True}, "project": None}, ""),
        ({"filter": {}, "project": "web"}, "/filter"),
        ({"ids": ["job_1"], "project": "-"}, "/project"),
        ({"ids": ["job_1"], "tags": {"No": "x"}}, "/tags/No"),
    ],
)
def test_invalid_labels_of_many_jobs_are_refused(
    client: TestClient, body: dict[str, Any], pointer: str
) -> None:
    """The error points at the label; a request without changes is refused."""
    assert error_pointers(client.post("/v1/jobs/labels", json=body)) == [pointer]
