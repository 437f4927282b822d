"""Face images of three subjects with three expressions (KEMA's Fig. 8), from the original file.

185 photographs of three subjects, happy, neutral or shocked, 217 pixels wide and 308 high; every
pixel is a feature. The file is unpublished and its variables are undocumented: the entry names
them, and the loader is tested on a generated file of the form that the paper describes.
"""

from pathlib import Path

import numpy as np

from workflow.loaders import only_file
from workflow.loaders._matfiles import read_variables

HEIGHT, WIDTH = 308, 217


def load(
    domain: str,
    paths: dict[str, Path],
    subject: int,
    factor: int = 1,
    images: str = "images",
    subjects: str = "subjects",
    expressions: str = "expressions",
    height: int = HEIGHT,
    width: int = WIDTH,
) -> tuple[np.ndarray, np.ndarray]:
    """Pixels and expression of the images of one subject, in the order of the file.

    Parameters
    ----------
    domain : str
        Ignored: `subject` selects the images.
    paths : dict
        The domain's one file, a ``.mat`` of v5 or v7.3.
    subject : int
        Number of the subject in the file, from 1.
    factor : int, default=1
        Blocks of factor x factor pixels are averaged, smaller ones at the right and lower edge; 2
        gives 154 x 109 pixels. (The paper's "factor four", 62 x 44, is a factor of 5.)
    images, subjects, expressions : str
        Variables: a matrix with one image per row or per column, its pixels column by column as
        MATLAB stores them; and a number from 1 per image.
    height, width : int
        Size of an image in pixels.

    Raises
    ------
    ValueError
        If a variable is missing or does not have this form, or there is no such subject.
    """
    path = only_file(paths)
    pixels, owners, labels = read_variables(path, [images, subjects, expressions])
    owners, labels = (_numbers(path, x, n) for x, n in ((owners, subjects), (labels, expressions)))
    pixels = _rows(path, images, pixels, len(owners), height * width)
    if len(labels) != len(owners):
        raise ValueError(
            f"{path}: {expressions!r} has {len(labels)} numbers, {subjects!r} has {len(owners)}; "
            "both should have one per image. Name other variables in the entry's params."
        )
    chosen = owners == subject
    if not chosen.any():
        raise ValueError(f"{path}: no image of subject {subject}; there are {set(owners.tolist())}")
    # Stored column by column: the width is the slow axis.
    faces = pixels[chosen].reshape(-1, width, height).transpose(0, 2, 1).astype(np.float64)
    return reduced(faces, factor).reshape(chosen.sum(), -1), labels[chosen] - 1


def reduced(faces: np.ndarray, factor: int) -> np.ndarray:
    """Means over blocks of factor x factor pixels of images (n, height, width)."""
    if factor < 1:
        raise ValueError(f"factor {factor}: give a whole number from 1")
    for axis in (1, 2):
        starts = np.arange(0, faces.shape[axis], factor)
        sizes = np.diff(np.append(starts, faces.shape[axis]))
        shape = [-1 if a == axis else 1 for a in range(3)]
        faces = np.add.reduceat(faces, starts, axis=axis) / sizes.reshape(shape)
    return faces


def _numbers(path: Path, values: np.ndarray, name: str) -> np.ndarray:
    values = np.ravel(values)
    if not np.issubdtype(values.dtype, np.number) or (values < 1).any() or (values % 1).any():
        raise ValueError(f"{path}: {name!r} should hold whole numbers from 1, one per image")
    return values.astype(np.int64)


def _rows(path: Path, name: str, pixels: np.ndarray, n_images: int, n_pixels: int) -> np.ndarray:
    """Images as rows."""
    if pixels.shape == (n_pixels, n_images):
        pixels = pixels.T
    if pixels.shape != (n_images, n_pixels):
        raise ValueError(
            f"{path}: {name!r} is of shape {pixels.shape}; for {n_images} images of {n_pixels} "
            "pixels it should have one row or one column per image. Name other variables or "
            "another size in the entry's params."
        )
    return pixels
