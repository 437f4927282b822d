"""
Heterogeneous features
======================

The source has 64 pixels, the target 16 averages of pixels and nothing else: no column of one domain
corresponds to a column of the other. Manifold alignment compares samples within a domain only, and
ties the domains by a few labels.
"""

import matplotlib.pyplot as plt
import numpy as np
from domain_alignment import FMA, KEMA
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

X, y = load_digits(n_class=5, return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(y))
source, target = order[:300], order[300:600]
averages = X[target].reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
averages = averages[:, rng.permutation(16)]  # in an order that nobody told us
Xs = [StandardScaler().fit_transform(domain) for domain in (X[source], averages)]
ys = [y[source], y[target]]

# %%
# Aligners take lists, the target last. Twenty labels per class are seen in the source, `k` in the
# target; the classifier is trained on labelled rows of both.


def seen(labels, per_class):
    """The first labels of each class; -1 elsewhere."""
    rank = np.array([np.sum(labels[:row] == label) for row, label in enumerate(labels)])
    return np.where(rank < per_class, labels, -1)


def accuracy(aligner, k):
    """Accuracy on the target rows whose labels were not seen."""
    known = [seen(ys[0], 20), seen(ys[1], k)]
    Zs = Xs if aligner is None else aligner.fit(Xs, known).embeddings_
    used = [1] if aligner is None else [0, 1]
    Z = np.vstack([Zs[domain][known[domain] >= 0] for domain in used])
    labels = np.concatenate([known[domain][known[domain] >= 0] for domain in used])
    classifier = LogisticRegression(max_iter=2000).fit(Z, labels)
    hidden = known[1] < 0
    return 100 * classifier.score(Zs[1][hidden], ys[1][hidden])


methods = {
    "target labels alone": None,
    "FMA": FMA(level="instance", n_components=20, n_neighbors=10),
    "KEMA": KEMA(kernel="rbf", n_components=10),
}
numbers = [1, 2, 3, 5, 10]
fig, axis = plt.subplots(figsize=(6, 3.8), layout="constrained")
for (name, aligner), marker in zip(methods.items(), "osx", strict=True):
    axis.plot(numbers, [accuracy(aligner, k) for k in numbers], marker=marker, label=name)
axis.set(xlabel="labels per class in the target", ylabel="accuracy on the target (%)")
axis.legend()
plt.show()

# %%
# The common space with three labels per class: circles are the source, crosses the target.

Zs = methods["FMA"].fit(Xs, [seen(ys[0], 20), seen(ys[1], 3)]).embeddings_
fig, axis = plt.subplots(figsize=(6, 3.8), layout="constrained")
axes = PCA(2).fit(np.vstack(Zs))
for Z, labels, marker in zip(Zs, ys, "ox", strict=True):
    axis.scatter(*axes.transform(Z).T, c=labels, marker=marker, s=12, cmap="tab10")
axis.set(title="FMA", xticks=[], yticks=[])
plt.show()
