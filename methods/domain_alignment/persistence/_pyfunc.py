"""What MLflow calls to load a saved model: ``loader_module`` of its "python_function" flavour."""

from domain_alignment.persistence._folder import load_model


def _load_pyfunc(path):
    """The model of a folder, whose ``predict(X)`` MLflow calls."""
    return load_model(path)
