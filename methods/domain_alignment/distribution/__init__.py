"""Matching distributions: TCA, SSTCA, JDA and MEDA bring the domains' means together."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "JDA": "_jda",
        "MEDA": "_meda",
        "SSTCA": "_sstca",
        "TCA": "_tca",
    },
)
