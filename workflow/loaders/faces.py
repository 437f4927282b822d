"""CMU face images: one subject is one domain, expressions or poses are its classes.

The archive holds ``faces/SUBJECT/SUBJECT_POSE_EXPRESSION_EYES_2.pgm`` (64 x 60 pixels, 8 bits) for
20 subjects, four poses, four expressions, and eyes open or behind sunglasses; the folder may lie
below others, as in the archive of a repository.
"""

import re
import tarfile
from pathlib import Path

import numpy as np

from workflow.loaders import only_file

# Classes by the part of a file name that holds them, in that order.
CLASSES = {"pose": ("left", "straight", "right"), "expression": ("neutral", "happy", "sad")}
WIDTH, HEIGHT = 64, 60
_NAME = re.compile(r"(?:[^/]+/)*faces/(\w+?)/\1_(\w+?)_(\w+?)_(open|sunglasses)_2\.pgm")
_HEADER = re.compile(rb"P5\s+(\d+)\s+(\d+)\s+(\d+)\s")


def load(
    domain: str, paths: dict[str, Path], subject: str, factor: int = 1, classes: str = "expression"
) -> tuple[np.ndarray, np.ndarray]:
    """Pixels between 0 and 1 and class of the images of a subject, sorted by file name.

    Parameters
    ----------
    domain : str
        Ignored: `subject` selects the images.
    paths : dict
        The archive.
    subject : str
        Name of a folder of the archive.
    factor : int, default=1
        Blocks of factor x factor pixels are averaged: 2 halves the resolution.
    classes : {"expression", "pose"}
        Images of other expressions (or poses) than those of `CLASSES` are left out.
    """
    if classes not in CLASSES:
        raise ValueError(f"classes: {classes!r} is unknown; take one of {', '.join(CLASSES)}")
    if WIDTH % factor or HEIGHT % factor:
        raise ValueError(f"factor {factor} does not divide {WIDTH} x {HEIGHT} pixels; take 1, 2, 4")
    images, labels, subjects = [], [], set()
    with tarfile.open(only_file(paths)) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            match = _NAME.fullmatch(member.name)
            if match is None:
                continue
            subjects.add(match[1])
            label = match[2 + list(CLASSES).index(classes)]
            if match[1] == subject and label in CLASSES[classes]:
                image = _image(archive.extractfile(member).read(), member.name)
                images.append(reduced(image, factor).ravel())
                labels.append(CLASSES[classes].index(label))
    if not images:
        raise ValueError(f"no images of subject {subject!r}. Known: {', '.join(sorted(subjects))}")
    return np.stack(images), np.array(labels)


def reduced(image: np.ndarray, factor: int) -> np.ndarray:
    """Means over blocks of factor x factor pixels."""
    height, width = image.shape
    blocks = image.reshape(height // factor, factor, width // factor, factor)
    return blocks.mean(axis=(1, 3))


def _image(content: bytes, name: str) -> np.ndarray:
    header = _HEADER.match(content)
    if header is None or (int(header[1]), int(header[2])) != (WIDTH, HEIGHT):
        raise ValueError(f"{name}: not a binary PGM image of {WIDTH} x {HEIGHT} pixels")
    pixels = np.frombuffer(content, dtype=np.uint8, offset=header.end())
    if pixels.size != WIDTH * HEIGHT:
        raise ValueError(f"{name}: {pixels.size} pixels, expected {WIDTH * HEIGHT}")
    # The header's maximum differs between images, so it is no common white point.
    return pixels.reshape(HEIGHT, WIDTH) / 255.0
