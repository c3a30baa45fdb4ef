"""Keys of every scope in the running application, and clients that use them."""

from collections.abc import Callable, Mapping

import pytest

from core.store import Store
from core.store.repositories.api_keys import SCOPES

Secrets = Mapping[str, str]
Bearer = Callable[[str], dict[str, str]]


@pytest.fixture
def secrets(store: Store) -> Secrets:
    """One secret for each scope; the service requires a key from now on."""
    with store.begin() as tx:
        return {scope: tx.api_keys.create(scope, [scope])[1] for scope in SCOPES}


@pytest.fixture
def bearer(secrets: Secrets) -> Bearer:
    """Authorization header with the key of a scope, or with a given secret."""
    return lambda scope: {"Authorization": f"Bearer {secrets.get(scope, scope)}"}
