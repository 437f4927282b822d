"""Maximum margin: MMDT, LS-MMDT, ARC-t and HFA learn a map by large-margin criteria."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "ARCt": "_arct",
        "classify_in_scene": "_in_scene",
        "DomainSVM": "_mmdt",
        "HFA": "_hfa",
        "LSMMDT": "_mmdt",
        "MMDT": "_mmdt",
        "solve_similarities": "_solver",
        "solve_transform": "_solver",
    },
)
