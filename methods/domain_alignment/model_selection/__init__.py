"""Model selection: parameters chosen by cross-validation on visible labels."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "AlignerSearchCV": "_search",
        "CrossValidatedSVC": "_svc",
        "FMACV": "_search",
        "MMDTCV": "_mmdt",
        "TKLCV": "_tkl",
    },
)
