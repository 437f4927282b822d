"""
Adding a method
===============

A method is a class with three members. This one subtracts the difference of the domains' means.
Once it is there, scikit-learn's tools can use it, and with an entry the benchmark.
"""

import matplotlib.pyplot as plt
import numpy as np
from domain_alignment import AlignedClassifier, Aligner, Capabilities, NoAdaptation
from domain_alignment.utils.validation import dense


class MeanShift(Aligner):
    r"""Add the difference of the domains' means to the source.

    .. math:: z = x + \bar x_T - \bar x_S

    Notes
    -----
    Cost: O(n p) time and memory.
    """

    capabilities = Capabilities(labels="none", max_domains=2)
    _features_reason = "means of other features cannot be subtracted; take other domains"

    def _fit(self, Xs, ys, models):
        source, target = map(dense, Xs)
        self.shift_ = target.mean(axis=0) - source.mean(axis=0)
        return [source + self.shift_, target]

    def _transform(self, X, domain):
        return dense(X) + self.shift_ if domain == 0 else dense(X)


# %%
# The base class checks the input and the answer, keeps column names, and refuses what the method
# does not declare. Here is what a caller gets for nothing:

try:
    MeanShift().fit([np.eye(3), np.eye(4)])
except ValueError as error:
    print(error)

# %%
# The method at work. Two classes, moved by (4, 2):

rng = np.random.default_rng(0)
y = np.tile([0, 1], 60)
X = np.array([[0.0, 0.0], [3.0, 0.0]])[y] + 0.7 * rng.normal(size=(120, 2))
X[60:] += [4, 2]
sample_domain = np.repeat([1, -2], 60)
seen = np.where(sample_domain > 0, y, -1)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharex=True, sharey=True)
for axis, aligner in zip(axes, [NoAdaptation(), MeanShift()], strict=True):
    model = AlignedClassifier(aligner).fit(X, seen, sample_domain=sample_domain)
    Z = model.transform(X, sample_domain=sample_domain)
    for number, marker in [(1, "o"), (-2, "x")]:
        rows = sample_domain == number
        axis.scatter(*Z[rows].T, c=y[rows], marker=marker, s=16, cmap="coolwarm")
    accuracy = 100 * model.score(X[60:], y[60:])
    axis.set_title(f"{type(aligner).__name__}: {accuracy:.0f} % of the target right")
plt.show()

# %%
# In the benchmark
# ----------------
#
# Put the class into any package that is installed, say ``mine/methods.py``, and name it in
# ``methods.yaml`` of a folder of your own (or in ``config/methods.yaml``):
#
# .. code-block:: yaml
#
#    methods:
#      mean_shift:
#        label: Mean shift
#        estimator: mine.methods:MeanShift
#        sees_labels: none
#        paper: none
#
# An experiment of that folder, say ``experiments/mine.yaml``, may then list ``mean_shift``:
#
# .. code-block:: sh
#
#    snakemake --cores 2 --config own=FOLDER -- mine
#
# The command ``compare`` reads ``config/methods.yaml`` alone. It takes this entry from there with
# ``--budget full`` and once it has a ``search``, the values of each parameter that is tuned; here
# there is none, so ``search: {}``. Tuned boards ask for the same.
#
# A method of this project is one module in a family, its name in the family's ``__init__.py``, an
# entry and a test; one command runs the contract that every entry has to keep, invariances and
# declared capabilities among it:
#
# .. code-block:: sh
#
#    .venv/bin/python -m pytest tests/methods/test_contract.py -k mean_shift
