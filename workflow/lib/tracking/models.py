"""A saved model of the library as an MLflow model, which `mlflow models serve` answers with."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from domain_alignment.persistence._folder import STATE
from domain_alignment.persistence._versions import distribution

from workflow.lib.storage.artifacts import sha256
from workflow.lib.tracking.store import Store

# Its `_load_pyfunc` loads the folder: the MLflow model holds no code and no pickle.
LOADER = "domain_alignment.persistence._pyfunc"
# Of class labels.
_KINDS = {str: np.dtype(str), bool: np.dtype(bool), int: np.dtype(int), float: np.dtype(float)}


def log_saved_model(
    folder: Path | str,
    experiment: str,
    config: Mapping,
    *,
    name: str = "model",
    description: str = "",
) -> dict:
    """Log a folder that `domain_alignment.persistence.save_model` wrote.

    One model of a name is kept in an experiment: the same content is not logged again, and another
    one takes its place.

    Parameters
    ----------
    folder : path
    experiment : str
        Of MLflow; made if need be.
    config : mapping
        ``config["mlflow"]`` has the parameters of the `Store`.
    name : str, default="model"
    description : str
        Of the experiment, if it is new.

    Returns
    -------
    receipt : dict
        "model_id", "model_uri", "tracking_uri", and "path": the MLflow model as a folder, where
        the store's files lie on this machine (else None).
    """
    folder = Path(folder)
    about = json.loads((folder / STATE).read_text(encoding="utf-8"))
    told = {"sha256": sha256(folder / STATE), "created": about["created"]}
    if about["about"]["accuracy"] is not None:
        told["expected_accuracy"] = str(about["about"]["accuracy"])
    with tempfile.TemporaryDirectory() as scratch:
        packaged = package_model(folder, Path(scratch) / "packaged")
        with Store(**config["mlflow"]) as store:
            return store.log_model(experiment, description, packaged, name, told)


def package_model(folder: Path, path: Path) -> Path:
    """Write a saved model as an MLflow model with its signature and an example of the input.

    Parameters
    ----------
    folder : Path
        The saved model.
    path : Path
        A folder that is made.

    Returns
    -------
    path : Path
    """
    import mlflow.pyfunc  # takes a second; `store`, imported above, has turned its telemetry off

    about = json.loads((folder / STATE).read_text(encoding="utf-8"))
    mlflow.pyfunc.save_model(
        path=str(path),
        loader_module=LOADER,
        data_path=str(folder),
        signature=_signature(about),
        input_example=_example(about),
        pip_requirements=[
            f"{distribution(package)}=={version}" for package, version in about["packages"].items()
        ],
        metadata={"classes": about["classes"]},
    )
    return path


def _signature(about: Mapping):
    """Columns by name where the features have names, else a matrix; one class per row."""
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, Schema, TensorSpec

    if about["features"] is None:
        inputs = [TensorSpec(np.dtype(float), (-1, about["n_features"]))]
    else:
        text = set(about["text_features"])
        inputs = [
            ColSpec("string" if at in text else "double", column, required=True)
            for at, column in enumerate(about["features"])
        ]
    kind = _KINDS[type(about["classes"][0])]
    return ModelSignature(Schema(inputs), Schema([TensorSpec(kind, (-1,))]))


def _example(about: Mapping) -> pd.DataFrame | np.ndarray | None:
    if about["example"] is None:
        return None
    if about["features"] is None:
        return np.array(about["example"], dtype=float)
    frame = pd.DataFrame(about["example"], columns=about["features"])
    numbers = set(range(len(about["features"]))) - set(about["text_features"])
    return frame.astype({about["features"][at]: float for at in numbers})
