"""Keys of every scope in the running application, and clients that use them."""

from collections.abc import Callable, Mapping

import pytest

from core.store import Store
from core.store.repositories.api_keys import SCOPES

Secrets = Mapping[str, str]
Bearer = Callable[[str], dict[str, str]]


@pytest.fixture
def secrets(store: Store) -> Secrets:
    """The secret of one key a scope; from now on nobody comes in without one."""
    with store.begin() as tx:
        return {scope: tx.api_keys.create(scope, [scope])[1] for scope in SCOPES}


@pytest.fixture
def bearer(secrets: Secrets) -> Bearer:
    """The header of a scope's key, or of a secret as it is given."""
    return lambda scope: {"Authorization": f"Bearer {secrets.get(scope, scope)}"}
