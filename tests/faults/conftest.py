"""An installation on servers, which the short forms of all fault tests share."""

from collections.abc import Iterator

import pytest

from tests.faults.campaign import Campaign
from tests.faults.installation import Servers, on_servers
from tests.faults.resume import SETTINGS


@pytest.fixture(scope="package")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Campaign]:
    """Two workers on separate hosts, an API, PostgreSQL, an object store and a broker."""
    folder = tmp_path_factory.mktemp("faults")
    with (
        Servers.running(folder) as servers,
        on_servers(servers, "short", settings=SETTINGS) as installation,
        Campaign.on(installation, seed=6) as campaign,
    ):
        yield campaign
