"""The command ``domain-alignment``."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"main": "_main"})
