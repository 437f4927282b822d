"""Classification by the largest score, for aligners that have scores of the classes."""

from sklearn.utils.validation import check_is_fitted


class ClassScoresMixin:
    """Gives an aligner ``decision_function`` and ``predict``.

    The aligner has ``classes_`` once it is fitted, and ``_class_scores(X, domain)``, which checks
    the samples and scores each of them for each class.
    """

    def decision_function(self, X, domain=-1):
        """Scores of all classes, each sample as one of its domain.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, p_domain)
        domain : int, default=-1
            0 is the source, 1 or -1 the target.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        check_is_fitted(self, "n_components_")  # set last
        return self._class_scores(X, domain)

    def predict(self, X, domain=-1):
        """Classes of largest score; arguments as for :meth:`decision_function`."""
        best = self.decision_function(X, domain).argmax(axis=1)
        return self.classes_[best]
