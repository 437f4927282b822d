"""Fitted models as folders of numbers and text: saved, loaded and used on new target samples."""

from domain_alignment._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "TargetModel": "_target_model",
        "describe_model": "_folder",
        "load_model": "_folder",
        "save_model": "_folder",
    },
)
