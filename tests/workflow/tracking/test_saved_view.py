"""The view that MLflow's UI offers."""

import base64
import json
import zlib

from workflow.lib.tracking.saved_view import VIEW, saved_view


def test_it_unpacks_to_methods_alone_the_best_first():
    view = json.loads(saved_view())
    packed = view["state"].removeprefix("deflate;")
    state = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert view["name"] == VIEW
    assert state["searchFilter"] == "tags.kind != 'task'"
    assert (state["orderByKey"], state["orderByAsc"]) == (state["selectedColumns"][0], False)
    # A width is heeded only for a column that the order names.
    assert set(state["columnWidths"]) <= set(state["columnOrder"])
