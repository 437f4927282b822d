"""Kernel learning: TKL's domain-invariant kernel."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "solve_eigenspectrum": "_spectrum_qp",
        "TKL": "_tkl",
    },
)
