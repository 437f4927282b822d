"""Domain adaptation by alignment: methods in the style of scikit-learn.

Estimators are importable from here (``from domain_alignment import KEMA``) and from their family
(``from domain_alignment.manifold import KEMA``); functions such as
:func:`domain_alignment.max_margin.solve_transform` only from their family.
"""

from importlib import import_module

from domain_alignment._lazy import attach

FAMILIES = (
    "baselines",
    "distribution",
    "kernel_learning",
    "manifold",
    "mapping",
    "max_margin",
    "model_selection",
    "subspace",
)

_TABLES = {"SELECTORS"}  # public in their family alone, as functions are

_HOMES = {
    "AlignedClassifier": "_classifier",
    "Aligner": "base",
    "AlignmentError": "exceptions",
    "Capabilities": "base",
}
for _family in FAMILIES:  # which imports their modules lazily
    for _name in import_module(f"{__name__}.{_family}").__all__:
        if _name[0].isupper() and _name not in _TABLES:  # class
            _HOMES[_name] = _family

_named, __dir__, __all__ = attach(__name__, _HOMES)


def __getattr__(name):
    if name == "__version__":  # reading it from the metadata takes time
        return import_module(f"{__name__}._version").version()
    return _named(name)
