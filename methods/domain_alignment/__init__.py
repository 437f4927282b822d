"""Domain adaptation by alignment: methods in the style of scikit-learn.

The names below are imported when they are first used, so that a program pays for the one method it
needs. A method does not have to be listed to be usable: ``domain_alignment.fma.FMA`` is its
address.
"""

from importlib import import_module

_HOMES = {
    "ARCt": "arct",
    "AlignedClassifier": "stacked",
    "Aligner": "base",
    "AlignmentError": "base",
    "AsymmetricCORAL": "coral",
    "CCAAligner": "scikit_adapters",
    "CORAL": "coral",
    "Capabilities": "base",
    "FMA": "fma",
    "ForeignAligner": "foreign",
    "GFK": "gfk",
    "HFA": "hfa",
    "JDA": "jda",
    "KEMA": "kema",
    "KernelCCA": "kernel_cca",
    "KernelPCAAligner": "scikit_adapters",
    "DomainSVM": "mmdt",
    "LSMMDT": "mmdt",
    "MEDA": "meda",
    "MMDT": "mmdt",
    "NoAdaptation": "no_adaptation",
    "OTLab": "optimal_transport",
    "PCAAligner": "scikit_adapters",
    "SGF": "sgf",
    "SelectedMMDT": "margin_selection",
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
