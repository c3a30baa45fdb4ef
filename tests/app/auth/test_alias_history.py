"""The history of an alias and the audit record the key that moved it."""

from collections.abc import Callable

from core.store import Model
from tests.app.auth.conftest import Bearer
from tests.app.conftest import TestClient

CHAMPION = "/v1/models/web/aliases/champion"


def test_the_history_names_the_key(
    client: TestClient, bearer: Bearer, add_model: Callable[[str], Model]
) -> None:
    """Only a key with the scope write changes an alias; history and audit name the same key."""
    for _ in range(2):
        add_model("web")
    writer = bearer("write")
    for version in (1, 2):
        assert client.put(CHAMPION, json={"version": version}, headers=writer).status_code == 200
    assert client.post(f"{CHAMPION}/rollback", headers=writer).status_code == 200
    for scope in ("read", "score"):
        refused = bearer(scope)
        answers = [
            client.put(CHAMPION, json={"version": 2}, headers=refused),
            client.post(f"{CHAMPION}/rollback", headers=refused),
            client.delete(f"{CHAMPION}/gate", headers=refused),
            client.patch("/v1/models/web", json={}, headers=refused),
        ]
        assert [answer.status_code for answer in answers] == [403] * 4
    lines = client.get(f"{CHAMPION}/history", headers=writer).json()["items"]
    assert [line["kind"] for line in lines] == ["rolled_back", "moved", "moved"]
    (key_id,) = {line["key_id"] for line in lines}
    audit = client.get("/v1/audit", headers=bearer("admin")).json()["items"]
    moved = [entry for entry in audit if entry["path"] == f"{CHAMPION}/rollback" and entry["status"] == 200]
    assert [entry["key_id"] for entry in moved] == [key_id]
