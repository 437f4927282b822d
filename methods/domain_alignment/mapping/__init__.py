"""Maps of the source onto the target: CORAL and optimal transport."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "AsymmetricCORAL": "_asymmetric_coral",
        "CORAL": "_coral",
        "ClassRegularizedOT": "_optimal_transport",
        "LinearOT": "_linear_transport",
    },
)
