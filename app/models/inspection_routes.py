"""Routes of feature importance, trees and inspections of models."""

from typing import Annotated

import numpy as np
from fastapi import Path, Query
from fastapi.concurrency import run_in_threadpool

from app.http.admission.expensive_reads import UseExpensive
from app.http.openapi import etag_responses
from app.http.route import JsonRoute, Router
from app.http.schemas import Cursor, Limit
from app.http.services import UseServices
from app.models.exports import model_of
from app.models.inspection_schemas import (
    FeatureImportance,
    Inspection,
    InspectionPage,
    ModelImportance,
    ModelTree,
)
from app.models.model_cache import ModelCache, UseModelCache
from app.models.routes import Reference
from core.errors import WrongState
from core.inspection import MAX_DEPTH, split_importance, tree_nodes
from core.scorers import TreeModel
from core.store import Model

_NO_TREES = (
    "only models of trees have this view. For other models, measure feature importance on a"
    ' dataset with an inspect job (POST /v1/jobs with "kind": "inspect"), or explain scores by feature with'
    ' "explain": true in a ranking request'
)


class InspectedModel:
    """The trees of one stored model.

    Raises:
        ModelError: The model's file is damaged.
        WrongState: The model has no trees.
    """

    def __init__(self, model_cache: ModelCache, model: Model) -> None:
        self._model = model
        self._names = tuple(model.feature_names)
        scorer = model_cache.of(model.id)
        if not isinstance(scorer, TreeModel):
            raise WrongState("model", model.reference, f"of the kind {scorer.kind}", _NO_TREES)
        self._text = scorer.text

    def importance(self) -> ModelImportance:
        """Return the importance of each feature, largest gain first."""
        importance = split_importance(self._text)
        gain_share = importance.gain / max(importance.gain.sum(), np.finfo(np.float64).tiny)
        split_share = importance.split / max(int(importance.split.sum()), 1)
        features = [
            FeatureImportance(
                feature=self._names[i],
                gain=float(importance.gain[i]),
                gain_share=float(gain_share[i]),
                split=int(importance.split[i]),
                split_share=float(split_share[i]),
            )
            for i in np.argsort(-importance.gain, kind="stable")
        ]
        return ModelImportance(model_id=self._model.id, trees=len(self._text.trees), features=features)

    def tree(self, index: int, root: int, depth: int) -> ModelTree:
        """Return a tree, or the subtree of one of its splits.

        Raises:
            InvalidInput: There is no such tree, or no such split.
        """
        nodes = tree_nodes(self._text, index, self._names, root, depth)
        return ModelTree.model_validate(
            {"model_id": self._model.id, "index": index, "trees": len(self._text.trees), "root": nodes}
        )


router = Router(prefix="/v1", route_class=JsonRoute)


@router.get(
    "/inspections/{inspection_id}",
    summary="Show an inspection",
    tags=["results"],
    responses=etag_responses(404),
)
def get_inspection(inspection_id: str, services: UseServices) -> Inspection:
    """Show permutation importance and partial dependence of a model."""
    with services.store.read() as tx:
        inspection = tx.inspections.get(inspection_id)
    return Inspection.model_validate(inspection)


@router.get(
    "/models/{ref}/inspections",
    summary="List a model's inspections",
    tags=["models"],
    responses=etag_responses(404, 422),
)
def list_inspections(
    ref: Reference, services: UseServices, cursor: Cursor = None, limit: Limit = 50
) -> InspectionPage:
    """List the inspections of one version of a model, newest first."""
    with services.store.read() as tx:
        model = tx.models.resolve(ref)
        page = tx.inspections.page(cursor, limit, model_id=model.id)
    return InspectionPage.model_validate(page)


@router.get(
    "/models/{ref}/importance",
    summary="Show a model's features by gain",
    tags=["models"],
    responses=etag_responses(404, 409),
)
async def get_importance(
    ref: Reference, services: UseServices, model_cache: UseModelCache, expensive: UseExpensive
) -> ModelImportance:
    """Show the number of splits of each feature and their gain in training, as LightGBM counts them.

    Gains refer to the training data, and favour features with many values. 409 for models without trees.
    """
    model = await run_in_threadpool(model_of, services, ref)
    return await expensive.answer(
        ("importance", model.id), lambda: InspectedModel(model_cache, model).importance()
    )


@router.get(
    "/models/{ref}/trees/{index}",
    summary="Show a tree of a model",
    tags=["models"],
    responses=etag_responses(404, 409, 422),
)
async def get_tree(
    ref: Reference,
    index: Annotated[int, Path(ge=0, le=2**31 - 1, description="Index of the tree, from 0", examples=[0])],
    services: UseServices,
    model_cache: UseModelCache,
    expensive: UseExpensive,
    root: Annotated[int, Query(ge=0, le=2**31 - 1, description="Index of the split to start from")] = 0,
    depth: Annotated[int, Query(ge=1, le=MAX_DEPTH, description="Maximum number of levels of splits")] = 16,
) -> ModelTree:
    """Show one tree as nested splits, or the subtree of one split; 409 for a model without trees."""
    model = await run_in_threadpool(model_of, services, ref)
    return await expensive.answer(
        ("tree", model.id, index, root, depth),
        lambda: InspectedModel(model_cache, model).tree(index, root, depth),
    )
