"""Distribution matching: TCA, SSTCA, JDA and MEDA, and measures of the distance of two domains."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "JDA": "_jda",
        "MEDA": "_meda",
        "SSTCA": "_sstca",
        "TCA": "_tca",
        "maximum_mean_discrepancy": "_discrepancy",
        "nystrom_error_bound": "_discrepancy",
    },
)
