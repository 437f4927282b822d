"""Domain adaptation by alignment: methods in the style of scikit-learn.

The names below are imported when they are first used, so that a program pays for the one method it
needs. A method does not have to be listed to be usable: ``domain_alignment.fma.FMA`` is its
address.
"""

from importlib import import_module

_HOMES = {
    "AlignedClassifier": "stacked",
    "Aligner": "base",
    "AlignmentError": "base",
    "ARCt": "arct",
    "AsymmetricCORAL": "coral",
    "Capabilities": "base",
    "CCAAligner": "scikit_adapters",
    "CORAL": "coral",
    "DomainSVM": "mmdt",
    "FMA": "fma",
    "ForeignAligner": "foreign",
    "GFK": "gfk",
    "HFA": "hfa",
    "JDA": "jda",
    "KEMA": "kema",
    "KernelCCA": "kernel_cca",
    "KernelPCAAligner": "scikit_adapters",
    "LSMMDT": "mmdt",
    "MEDA": "meda",
    "MMDT": "mmdt",
    "NoAdaptation": "no_adaptation",
    "OTLab": "optimal_transport",
    "PCAAligner": "scikit_adapters",
    "SelectedAligner": "selection",
    "SelectedFMA": "selection",
    "SelectedMMDT": "margin_selection",
    "SelectedTKL": "source_selection",
    "SGF": "sgf",
    "SMA": "sma",
    "SSMA": "ssma",
    "SSTCA": "sstca",
    "SubspaceAlignment": "subspace_alignment",
    "SubspaceWithLabels": "subspace_with_labels",
    "TCA": "tca",
    "TKL": "tkl",
}

__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {__all__}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__():
    return sorted([*globals(), *__all__])
