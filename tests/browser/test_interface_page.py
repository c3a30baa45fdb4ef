"""The API reference, rendered by Swagger UI in the colours of the dashboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.visit import DESK, LOOKS, PHONE, Visit

pytestmark = pytest.mark.browser


@pytest.mark.slow
@LOOKS
def test_the_api_reference_is_accessible(visit: Visit) -> None:
    """The list of operations passes axe-core, an open operation is readable, and the header has two links."""
    page = visit.open("/docs")
    expect(page.get_by_role("navigation", name="Main").get_by_role("link")).to_have_count(2)
    expect(page.locator(".opblock")).not_to_have_count(0)
    assert visit.violations() == []
    operation = "#operations-keys-create_key"
    page.locator(f"{operation} .opblock-summary-control").click()
    expect(page.locator(f"{operation} .microlight").first).to_be_visible()
    assert [violation for violation in visit.violations(operation) if "contrast" in violation] == []
    visit.fit("interface", (DESK, PHONE))
