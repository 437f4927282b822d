"""Manifold alignment: FMA, SMA, SSMA and KEMA.

The graphs of all domains, coupled through labels, form one eigenproblem whose smallest eigenvectors
span the common space.
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
