"""Subspaces: GFK, SGF, subspace alignment, kernel CCA and the labelled subspace."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "GFK": "_gfk",
        "KernelCCA": "_kernel_cca",
        "SGF": "_sgf",
        "SubspaceAlignment": "_subspace_alignment",
        "LabelledSubspace": "_labelled_subspace",
    },
)
