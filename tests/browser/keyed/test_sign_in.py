"""Sign-in by keyboard, the redirect to the requested page, and sign-out on a service with keys."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from rankery.client import Client
from tests.browser.keyed.conftest import make_key, sign_in
from tests.browser.visit import LOOKS, Look, Visit

pytestmark = pytest.mark.browser


@LOOKS
def test_the_sign_in_page_fits_its_window(visit: Visit, look: Look) -> None:
    """The page does not scroll sideways, with and without an error message."""
    visit.refusals_expected = True
    scheme, width = look
    page = visit.open("/sign-in")
    visit.photograph(f"sign-in-{scheme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    sign_in(page, "rk_wrong")
    expect(page.get_by_role("alert")).to_have_text("the API key is unknown, expired or revoked")
    visit.photograph(f"sign-in-refused-{scheme}-{width}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_sign_in_redirects_back_and_sign_out_ends_the_session(visit: Visit, admin_key: str) -> None:
    """A page redirects to the sign-in page and opens after sign-in; after sign-out it redirects again."""
    page = visit.open("/datasets?status=ready#add")
    expect(page).to_have_url(re.compile(r"/sign-in\?next=%2Fdatasets%3Fstatus%3Dready#add$"))
    sign_in(page, admin_key)
    expect(page).to_have_url(f"{visit.url}/datasets?status=ready#add")
    page.get_by_role("button", name="Close").first.click()
    expect(page.get_by_role("heading", name="Datasets", exact=True)).to_be_visible()
    page.locator("main [aria-busy]").first.wait_for(state="detached")
    visit.photograph("signed-in")
    (cookie,) = visit.page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(f"{visit.url}/sign-in")
    assert visit.page.context.cookies() == []
    expect(visit.open("/models")).to_have_url(re.compile("/sign-in"))


@pytest.mark.parametrize("look", [("dark", 390)])
def test_the_header_of_a_phone_has_the_sign_out_button(visit: Visit, admin_key: str) -> None:
    """The header shows the button to sign out on a narrow screen without sideways scrolling."""
    page = visit.open("/")
    sign_in(page, admin_key)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    visit.photograph("signed-in-narrow")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    stops = page.locator("body > :not(main) :is(a, button)").evaluate_all(
        "nodes => nodes.filter((node) => node.checkVisibility() && node.tabIndex >= 0).length"
    )
    assert stops == 9, "signing out is in the toolbar, which is one stop"


def test_a_form_works_by_cookie(visit: Visit, admin_key: str) -> None:
    """Forms work with a session cookie alone, since the browser sends the origin of the request."""
    page = visit.open("/datasets")
    sign_in(page, admin_key)
    page.wait_for_url(f"{visit.url}/datasets", wait_until="load")
    page.get_by_role("link", name="Add a dataset").first.click()
    form = page.locator("#synthetic")
    form.get_by_role("textbox", name="Name").fill("by cookie")
    form.get_by_label("Queries").fill("3")
    form.get_by_role("button", name="Make dataset").click()
    expect(page.locator("#datasets")).to_contain_text("by cookie")


def test_a_page_whose_session_ended_asks_to_sign_in(visit: Visit, admin_key: str) -> None:
    """Revoking the key redirects an open page, which polls, to sign-in; `next` has its full URL."""
    visit.refusals_expected = True
    secret = make_key(visit.url, admin_key, f"guest {secrets.token_hex(4)}", "read")
    page = visit.open("/jobs")
    sign_in(page, secret)
    expect(page.get_by_label("Filter by kind").locator("option")).not_to_have_count(0)
    page.evaluate("history.replaceState(null, '', '/jobs?kind=train#here')")
    with Client(visit.url, api_key=admin_key) as client:
        newest = client.request("GET", "/v1/keys").json()["items"][0]["id"]
        client.request("DELETE", f"/v1/keys/{newest}")
    expect(page).to_have_url(re.compile(r"/sign-in\?next=%2Fjobs%3Fkind%3Dtrain%23here$"))


def test_a_link_from_another_site_opens_with_a_session(visit: Visit, admin_key: str) -> None:
    """A link on another site sends no cookie; the sign-in page detects the session and redirects."""
    page = visit.open("/jobs")
    sign_in(page, admin_key)
    expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    visit.open("/sign-in?next=%2Fmodels")
    expect(page).to_have_url(f"{visit.url}/models")


def test_a_typed_key_can_be_shown(visit: Visit) -> None:
    """The keyboard reaches the button to show the key with Tab, and Space presses it."""
    page = visit.open("/sign-in")
    page.keyboard.type("rk_abc")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    field = page.get_by_label("API key")
    expect(field).to_have_attribute("type", "text")
    expect(field).to_be_focused()
    expect(page.get_by_role("button", name="Hide")).to_have_attribute("aria-pressed", "true")


@pytest.mark.slow
def test_the_api_reference_is_rendered(visit: Visit, admin_key: str) -> None:
    """Swagger UI works under a content security policy without inline scripts."""
    page = visit.open("/docs")
    sign_in(page, admin_key)
    expect(page.get_by_role("heading", name=re.compile("^Rankery"))).to_be_visible()
    expect(page.locator(".opblock")).not_to_have_count(0)
    visit.photograph("docs")
    policy = page.evaluate("fetch('/docs').then((answer) => answer.headers.get('content-security-policy'))")
    assert "script-src 'self';" in policy
