"""Baselines: no adaptation, scikit-learn's projections, and aligners of other packages."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "CCAAligner": "_cca",
        "ExternalAligner": "_external",
        "KernelPCAAligner": "_kernel_pca",
        "NoAdaptation": "_no_adaptation",
        "PCAAligner": "_pca",
    },
)
