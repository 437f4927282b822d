"""Domain adaptation by alignment: methods in the style of scikit-learn.

Every estimator of the families below is importable from here (``from domain_alignment import
KEMA``) and from its family (``from domain_alignment.manifold import KEMA``). Functions such as
:func:`domain_alignment.max_margin.solve_transform` are importable from their family alone.
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

_HOMES = {
    "AlignedClassifier": "_classifier",
    "Aligner": "base",
    "AlignmentError": "exceptions",
    "Capabilities": "base",
}
for _family in FAMILIES:  # their modules are imported when a name is first used
    for _name in import_module(f"{__name__}.{_family}").__all__:
        if _name[0].isupper():  # a class
            _HOMES[_name] = _family

__getattr__, __dir__, __all__ = attach(__name__, _HOMES)
