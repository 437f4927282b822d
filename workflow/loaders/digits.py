"""Handwritten digits that scikit-learn ships, as three domains without an image in common.

Real data without a download. The 1797 images (8 x 8, pixels 0..16) are split into consecutive
thirds of 599: ``full`` keeps the 64 pixels, ``half`` has half the resolution (16 pixels, so its
features differ in number), ``scanner`` is rotated and blurred.
"""

from pathlib import Path

import numpy as np

from workflow.loaders import known_domain

_THIRDS = ["full", "half", "scanner"]


def load(
    domain: str, paths: dict[str, Path], rotation: float = 20.0, blur: float = 0.7
) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of one third of the images.

    Parameters
    ----------
    domain : {"full", "half", "scanner"}
    paths : dict
        Empty.
    rotation : float
        Degrees, anticlockwise; ``scanner`` only.
    blur : float
        Standard deviation of the Gaussian blur in pixels; ``scanner`` only.
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    size = len(labels) // len(_THIRDS)
    first = _THIRDS.index(known_domain(domain, _THIRDS)) * size
    images = images[first : first + size].reshape(size, 8, 8)
    if domain == "half":
        images = images.reshape(size, 4, 2, 4, 2).mean(axis=(2, 4))
    elif domain == "scanner":
        images = _scan(images, rotation, blur)
    return images.reshape(size, -1), labels[first : first + size].astype(np.int64)


def _scan(images: np.ndarray, rotation: float, blur: float) -> np.ndarray:
    from scipy import ndimage

    # Linear interpolation: higher orders overshoot the range of the pixels.
    turned = ndimage.rotate(images, rotation, axes=(2, 1), reshape=False, order=1)
    return ndimage.gaussian_filter(turned, sigma=(0, blur, blur))
