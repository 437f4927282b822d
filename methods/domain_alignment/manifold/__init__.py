"""Manifold alignment: FMA, SMA, SSMA and KEMA.

Graphs of the domains, tied by labels, share one eigenproblem; its leading eigenvectors are the
common space.
"""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "FMA": "_fma",
        "KEMA": "_kema",
        "SMA": "_sma",
        "SSMA": "_ssma",
    },
)
