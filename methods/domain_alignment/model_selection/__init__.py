"""Model selection: cross-validation on visible labels, and selectors that need fewer or none."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "AlignerSearchCV": "_search",
        "CrossValidatedSVC": "_svc",
        "EmbeddedDomains": "_evidence",
        "Evidence": "_evidence",
        "FMACV": "_search",
        "MMDTCV": "_mmdt",
        "SELECTORS": "_selectors",
        "Selector": "_selectors",
        "SelectorScorer": "_scorer",
        "TKLCV": "_tkl",
        "TargetFolds": "_folds",
        "chosen": "_choice",
        "held_out_predictions": "_validation",
        "make_selector_scorer": "_scorer",
    },
)
