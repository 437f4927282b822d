"""Exceptions of the library."""


class AlignmentError(RuntimeError):
    """The data are valid but the method has no solution, as for a graph of isolated nodes."""


class NonfiniteAnswerError(AlignmentError):
    """What a method computed holds NaN or infinity."""


class SavedModelError(ValueError):
    """A model that cannot be saved, or a saved one that is damaged or of another version."""
