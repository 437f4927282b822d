r"""Kernels: tiled evaluation, bandwidths, coordinates in the feature space.

Two bandwidth parameters, with one name each throughout the library:

* ``gamma`` multiplies a distance, :math:`\exp(-\gamma\, d(x, y))`, as in scikit-learn; the
  kernels of :mod:`~domain_alignment.kernels._pairwise` have it, with the squared Euclidean
  distance ("rbf") or the Manhattan distance ("laplacian");
* ``sigma`` is a *width*, in units of the distance, :math:`\exp(-d(x, y)^2 / (2 \sigma^2))`, as in
  the program of KEMA; the kernels of :mod:`~domain_alignment.kernels._tiled` have it, with the
  Euclidean distance ("rbf") or the root of the chi2 distance ("chi2").

For "rbf" they are the same kernel at :math:`\gamma = 1 / (2 \sigma^2)`.
"""
