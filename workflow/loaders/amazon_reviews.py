"""Amazon reviews of four products: counts of words and word pairs; negative (0) or positive (1).

Files ``{product}_train.svmlight`` and ``{product}_test.svmlight`` hold a review per line: its label
(-1 or 1) and ``column:count`` pairs, columns counted from 0 to 4999.
"""

from pathlib import Path

import numpy as np
from scipy import sparse

N_WORDS = 5000


def load(
    domain: str, paths: dict[str, Path], empty: bool = True
) -> tuple[sparse.csr_array, np.ndarray]:
    """Reviews of one product, those of the training file first.

    Parameters
    ----------
    domain : str
        The product; begins the names of its files.
    paths : dict of str to Path
        The files of the domain.
    empty : bool, default=True
        Whether to keep reviews that hold none of the words; these have no direction.

    Returns
    -------
    X : CSR array of shape (n, 5000)
        Counts; a review may be empty.
    y : ndarray of shape (n,)

    Raises
    ------
    ValueError
        If a file is missing, or not of this form.
    """
    read = [_read(_path(domain, paths, part)) for part in ("train", "test")]
    X = sparse.csr_array(sparse.vstack([counts for counts, _ in read], format="csr"))
    y = np.concatenate([labels for _, labels in read])
    if not empty:
        kept = np.diff(X.indptr) > 0
        X, y = X[kept], y[kept]
    return X, y


def _path(domain: str, paths: dict[str, Path], part: str) -> Path:
    name = f"{domain}_{part}.svmlight"
    if name not in paths:
        raise ValueError(
            f"the file {name} is missing; the domain has {', '.join(paths) or 'none'}. "
            "List it under `files` of the domain in the entry of its data set."
        )
    return paths[name]


def _read(path: Path) -> tuple[sparse.csr_array, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    counts, labels = load_svmlight_file(str(path), n_features=N_WORDS, zero_based=True)
    wrong = np.flatnonzero(~np.isin(labels, (-1, 1)))
    if wrong.size:
        raise ValueError(f"{path}: line {wrong[0] + 1}: label {labels[wrong[0]]:g}, not -1 or 1")
    # The reader's indices are int64, which scikit-learn's linear machines refuse.
    indices, indptr = (array.astype(np.int32) for array in (counts.indices, counts.indptr))
    X = sparse.csr_array((counts.data, indices, indptr), shape=counts.shape)
    return X, (labels > 0).astype(np.int64)
