"""Containers of embeddings, as ``set_output`` asks for; the only module that uses scikit-learn's
private wrapping of outputs."""

import numpy as np
from scipy import sparse
from sklearn.utils._set_output import _wrap_data_with_container


def contained(Z, X, estimator):
    """An embedding in the container that `estimator` or scikit-learn's configuration asks for.

    Parameters
    ----------
    Z : ndarray or CSR matrix of shape (n_samples, n_components)
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The samples; a data frame gives its index.
    estimator : estimator
        Its ``get_feature_names_out`` names the columns.

    Returns
    -------
    Z : ndarray, CSR matrix or data frame of shape (n_samples, n_components)

    Raises
    ------
    ValueError
        If a data frame is asked for and the embedding is sparse.
    """
    return _wrap_data_with_container("transform", Z, X, estimator)


def plain(Z):
    """The values of an embedding, whatever its container.

    Examples
    --------
    >>> plain([[1.0, 2.0]])
    array([[1., 2.]])
    """
    return Z if sparse.issparse(Z) else np.asarray(Z)


class OutputPerDomain:
    """``fit_transform`` of several domains, each in its container.

    Apart from the estimator, where scikit-learn's ``set_output`` would take the list for one array.
    """

    def fit_transform(self, Xs, ys=None, prepared=None, **fit_params):
        """Align the domains and return ``embeddings_``.

        Parameters
        ----------
        Xs, ys, prepared, **fit_params
            As for :meth:`fit`.

        Returns
        -------
        Zs : list of (ndarray or data frame of shape (n_a, n_components_))
            Data frames after ``set_output(transform="pandas")``.
        """
        self.fit(Xs, ys, prepared, **fit_params)
        return [contained(Z, X, self) for Z, X in zip(self.embeddings_, Xs, strict=True)]
