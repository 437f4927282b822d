"""Settings chosen by cross-validation on the labels that a method may see."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "SelectedAligner": "_search",
        "SelectedFMA": "_search",
        "SelectedMMDT": "_mmdt",
        "SelectedTKL": "_tkl",
    },
)
