"""Pages of settings, API keys and the audit log."""

import re

import pytest
from playwright.sync_api import Route, expect

from rankery.client import Client
from tests.browser.keyed.conftest import make_key, sign_in
from tests.browser.visit import LOOKS, Look, Visit

_DISTANCE_TO_NEXT = """secret =>
    secret.nextElementSibling.getBoundingClientRect().top - secret.getBoundingClientRect().bottom"""
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def read_key(service_url: str, admin_key: str) -> str:
    """The secret of a key with the scope read."""
    return make_key(service_url, admin_key, "read", "read")


@LOOKS
def test_a_key_is_created_and_revoked(visit: Visit, admin_key: str, look: Look) -> None:
    """The page shows the key's secret once, and the audit log lists both requests."""
    visit.refusals_expected = True  # the form sends a key without a name
    name, unused = f"nightly {look[1]}", f"unused {look[1]}"
    make_key(visit.url, admin_key, unused, "read")
    page = visit.open("/settings/keys")
    sign_in(page, admin_key)
    page.get_by_role("button", name="Create a key").click()
    dialog = page.get_by_role("dialog", name="Create a key")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.locator(".field-error").first).to_be_visible()
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("write").check()
    dialog.get_by_label("Expires").fill("2099-12-31")
    assert visit.violations() == []
    visit.photograph(f"key-form-{look[0]}-{look[1]}")
    dialog.get_by_role("button", name="Create").click()
    created = page.get_by_role("region", name="Secret")
    expect(created.locator("pre")).to_have_text(re.compile("^rk_"))
    expect(created.get_by_role("button", name="Copy the secret", exact=True)).to_be_visible()
    assert page.locator("#new-secret").evaluate(_DISTANCE_TO_NEXT) > 8, "the panels touch"
    row = page.get_by_role("row").filter(has_text=name)
    expect(row).to_contain_text("active")
    expect(row).to_contain_text("2099")
    visit.photograph(f"keys-{look[0]}-{look[1]}")
    row.get_by_role("button", name=f"Revoke {name}").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("revoked")

    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Audit log").click()
    revoked = page.get_by_role("row").filter(has_text="Delete the key").first
    expect(revoked).to_contain_text("Done")
    expect(revoked.get_by_role("rowheader")).to_have_text("admin")
    assert visit.violations() == []
    visit.photograph(f"audit-{look[0]}-{look[1]}")
    page.get_by_label("Key").select_option(unused)
    expect(page.get_by_text("No requests yet.")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(0)
    assert page.url.endswith(f"?key={page.get_by_label('Key').input_value()}")

    page.get_by_role("navigation", name="Settings").get_by_role("link", name="Service").click()
    page.get_by_label("Changed only").check()
    expect(page.get_by_role("row").filter(has_text="RANKERY_DATA_DIR")).to_be_visible()
    page.get_by_label("Changed only").uncheck()
    expect(page.get_by_role("row").filter(has_text="RANKERY_MAX_UPLOAD_BYTES")).to_contain_text("32 GiB")
    assert page.evaluate("document.documentElement.scrollWidth") <= look[1]
    assert visit.violations() == []
    visit.photograph(f"settings-{look[0]}-{look[1]}")


def _refuse(route: Route) -> None:
    route.fulfill(status=409, content_type="application/problem+json", body='{"title": "No", "status": 409}')


def test_a_refused_revocation_is_shown_once(visit: Visit, admin_key: str) -> None:
    """The button keeps the focus after its dialog, and a repeated refusal replaces the message."""
    visit.refusals_expected = True
    make_key(visit.url, admin_key, "needed", "read")
    page = visit.open("/settings/keys")
    sign_in(page, admin_key)
    page.route("**/v1/keys/key_*", _refuse)
    button = page.get_by_role("button", name="Revoke needed")
    for choice in ("Keep it", "Revoke", "Revoke"):
        button.click()
        page.get_by_role("dialog").get_by_role("button", name=choice).click()
        expect(button).to_be_focused()
    expect(page.get_by_role("alert")).to_have_count(1)


def test_a_read_key_gets_a_problem_with_the_missing_scope(visit: Visit, read_key: str) -> None:
    """A user with the scope read can open the pages, which show a problem that names the scope admin."""
    visit.refusals_expected = True
    page = visit.open("/settings/keys")
    sign_in(page, read_key)
    page.wait_for_url(f"{visit.url}/settings/keys")
    for path in ("/settings/keys", "/settings/audit", "/settings"):
        visit.open(path)
        expect(page.get_by_role("group", name="Problem")).to_contain_text(
            "this request needs the scope admin"
        )


def test_a_read_key_is_offered_no_change(visit: Visit, admin_key: str, read_key: str) -> None:
    """Controls that change something are disabled for a key that may only read, with the reason."""
    reason = "The key “read” lacks the scope write."
    with Client(visit.url, api_key=admin_key) as client:
        dataset = client.request(
            "POST", "/v1/datasets/synthetic", json={"name": "small", "queries": 2}
        ).json()
        client.job(dataset["job_id"]).wait()
    page = visit.open("/datasets#add")
    sign_in(page, read_key)
    form = page.get_by_role("dialog", name="Add a dataset").locator("form").first
    expect(form).to_contain_text(reason)
    expect(form.get_by_role("button", name="Upload")).to_be_disabled()
    for path, name in {
        "/datasets": "Add a dataset",
        f"/datasets/{dataset['id']}": "Delete",
        "/train": "Start training",
        "/studies": "New study",
        "/schedules": "New schedule",
        "/settings/storage": "Empty the trash",
        f"/jobs/{dataset['job_id']}": "Delete",
        "/models": "New training",
    }.items():
        visit.open(path)
        visit.settle()
        controls = page.locator(":is(a, button)").filter(has_text=name)
        titles = controls.evaluate_all("nodes => nodes.map(({ title }) => title)")
        assert titles == [reason] * len(titles) != [], path
        expect(controls.first).to_be_disabled()
        assert visit.violations() == []
    page.keyboard.press("Control+k")
    expect(page.get_by_role("option", name="Overview")).to_be_visible()
    expect(page.get_by_role("option", name="New training")).to_have_count(0)
