"""Rows of models: versions, aliases and tags."""

import re
import threading
from collections.abc import Callable

import pytest

from core.errors import InvalidInput, NotFound
from core.store import MODEL_NAME, Model, Store
from core.store.repositories.projects import MAX_TAGS

AddModel = Callable[[str], Model]


def test_versions_count_within_a_name(add_model: AddModel) -> None:
    """Versions of another name do not advance the count, which begins at 1."""
    assert [add_model(name).version for name in ("web", "web", "ads", "web")] == [1, 2, 1, 3]


@pytest.mark.both_stores
def test_concurrent_writers_get_different_versions(add_model: AddModel) -> None:
    """Twenty versions that four threads add are numbered from 1 to 20."""
    versions: list[int] = []
    threads = [
        threading.Thread(target=lambda: versions.extend([add_model("web").version for _ in range(5)]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(versions) == list(range(1, 21))


@pytest.mark.both_stores
def test_all_values_of_a_model_are_stored(store: Store, add_model: AddModel) -> None:
    """A model comes back as it was recorded."""
    model = add_model("web")
    with store.read() as tx:
        found = tx.models.get(model.id)
    assert (found.feature_names, found.loss, found.hyperparameters) == (
        ["f1", "f2"],
        {"name": "lambdarank"},
        {"num_leaves": 31},
    )
    assert (found.best_iteration, found.sha256, found.size_bytes, found.metrics) == (7, "0" * 64, 10, None)


def test_references_are_resolved(store: Store, add_model: AddModel) -> None:
    """A reference is an id, a name for its latest version, name:version or name@alias."""
    first, second = add_model("web.v1-a_b"), add_model("web.v1-a_b")
    with store.begin() as tx:
        tx.aliases.move("web.v1-a_b", "champion", 1)
        found = {
            ref: tx.models.resolve(ref).id
            for ref in (first.id, "web.v1-a_b", "web.v1-a_b:1", "web.v1-a_b:2", "web.v1-a_b@champion")
        }
    assert list(found.values()) == [first.id, second.id, first.id, second.id, first.id]


@pytest.mark.parametrize(
    "ref",
    ["", "none", "mdl_none", "web:2", "web:0", "web:01", "web:-1", "web: 1", "web:1 ", "web:x", "web:",
     "web:99999999999999999999", "web:1:1", "web:٣", "web@none", "web@", "@champion", ":1", "WEB",
     "web@champion:1"],
)  # fmt: skip
def test_unknown_references_are_not_found(store: Store, add_model: AddModel, ref: str) -> None:
    """A reference that means no model, however odd, is not found."""
    add_model("web")
    with store.begin() as tx:
        tx.aliases.move("web", "champion", 1)
        with pytest.raises(NotFound) as raised:
            tx.models.resolve(ref)
    assert raised.value.id == ref


def test_a_moved_alias_refers_to_the_new_version(store: Store, add_model: AddModel) -> None:
    """A moved alias refers to the new version alone; each model lists its aliases."""
    first, second = add_model("web"), add_model("web")
    with store.begin() as tx:
        tx.aliases.move("web", "champion", 1)
        tx.aliases.move("web", "baseline", 1)
        assert tx.aliases.move("web", "champion", 2).model_id == second.id
    with store.read() as tx:
        assert tx.models.resolve("web@champion").id == second.id
        assert [(row.alias, row.model_id) for row in tx.aliases.of_name("web")] == [
            ("baseline", first.id),
            ("champion", second.id),
        ]
        assert tx.models.aliases_of([first.id, second.id]) == {
            first.id: ["baseline"],
            second.id: ["champion"],
        }


def test_an_alias_needs_an_existing_version(store: Store, add_model: AddModel) -> None:
    """An alias can refer only to a version that exists."""
    add_model("web")
    with store.begin() as tx:
        for name, version in (("web", 2), ("ads", 1)):
            with pytest.raises(NotFound):
                tx.aliases.move(name, "champion", version)


@pytest.mark.parametrize("name", ["a", "0", "web-v2.1_x", "a" * 100])
def test_valid_names_are_accepted(store: Store, add_model: AddModel, name: str) -> None:
    """Names are of lower-case letters, digits, dots, dashes and underscores."""
    assert re.match(MODEL_NAME, name)
    assert add_model(name).name == name
    with store.begin() as tx:
        assert tx.aliases.move(name, name, 1).alias == name


@pytest.mark.parametrize(
    "name", ["", "A", "-a", ".a", "a b", "a:1", "a@b", "a/b", "é", "a\n", "a" * 101, "mdl_x"]
)
def test_invalid_names_are_refused(store: Store, add_model: AddModel, name: str) -> None:
    """Any other name, and one that looks like an id, is refused for models and aliases."""
    with pytest.raises(InvalidInput):
        add_model(name)
    add_model("web")
    with pytest.raises(InvalidInput), store.begin() as tx:
        tx.aliases.move("web", name, 1)


def test_models_are_listed_newest_first(store: Store, add_model: AddModel) -> None:
    """Models are listed newest first; a filter selects the versions of one name."""
    first, second, third = add_model("web"), add_model("ads"), add_model("web")
    with store.read() as tx:
        assert [row.id for row in tx.models.page(None, 10).items] == [third.id, second.id, first.id]
        assert [row.id for row in tx.models.page(None, 10, name="web").items] == [third.id, first.id]


def test_description_and_tags_of_a_model_are_changed(store: Store, add_model: AddModel) -> None:
    """A new description replaces the old one; tags are set, replaced and removed one by one."""
    model = add_model("web")
    with store.begin() as tx:
        tx.models.describe(model.id, description="The spring model")
        tx.models.tag(model.id, {"team": "search", "draft": "yes"})
    with store.begin() as tx:
        tx.models.tag(model.id, {"draft": None, "gone": None, "a.b/c": "'\"$"})
    with store.read() as tx:
        found = tx.models.get(model.id)
    assert (found.description, found.tags) == ("The spring model", {"team": "search", "a.b/c": "'\"$"})
    with pytest.raises(InvalidInput, match=f"the maximum is {MAX_TAGS}"), store.begin() as tx:
        tx.models.tag(model.id, {f"t{i}": "" for i in range(MAX_TAGS - 1)})


@pytest.mark.both_stores
def test_models_are_found_by_their_tags(store: Store, add_model: AddModel) -> None:
    """A filter names a tag, with or without its value; with several tags, a model must have all of them."""
    first, second, _ = (add_model("web") for _ in range(3))
    with store.begin() as tx:
        tx.models.tag(first.id, {"team": "search", "a.b/c": ""})
        tx.models.tag(second.id, {"team": "ads"})
    with store.read() as tx:
        found = {
            tags: [row.id for row in tx.models.page(None, 10, tags=tags).items]
            for tags in (
                (("team", None),),
                (("team", "search"),),
                (("team", None), ("a.b/c", "")),
                (("team", "sear"),),
                (("a.b", None),),
            )
        }
    assert list(found.values()) == [[second.id, first.id], [first.id], [first.id], [], []]
