"""
Several sources
===============

Three labelled sources and a target, each measured from another angle. Methods that take any number
of domains align all of them at once; ``Capabilities`` says which do.
"""

import matplotlib.pyplot as plt
import numpy as np
from domain_alignment import FMA, SSMA, AlignedClassifier, NoAdaptation

rng = np.random.default_rng(0)
ANGLES = np.deg2rad([0, 40, 80, 120])  # of three sources and the target
CENTRES = np.array([[3.0, 0.0], [-1.5, 2.6], [-1.5, -2.6]])


def domain(angle, n_samples=90):
    """Three classes seen from an angle."""
    y = np.arange(n_samples) % 3
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (CENTRES[y] + 1.5 * rng.normal(size=(n_samples, 2))) @ turn, y


Xs, ys = zip(*(domain(angle) for angle in ANGLES), strict=True)
X, y = np.vstack(Xs), np.concatenate(ys)

# %%
# In `sample_domain` positive numbers are sources, the negative one is the target. The target has
# two labels per class.

numbers = np.repeat([1, 2, 3, -4], 90)
few = np.tile(np.arange(90) < 6, 4)
seen = np.where((numbers > 0) | few, y, -1)

methods = {
    "no adaptation": NoAdaptation(domains="both"),
    "SSMA": SSMA(n_components=2),
    "FMA": FMA(level="instance", n_components=12, n_neighbors=20),
}
for name, method in methods.items():
    print(f"{name}: at most {method.capabilities.max_domains or 'any number of'} domains")

# %%
# How much does each further source help?

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
hidden = (numbers < 0) & (seen < 0)
for (name, method), marker in zip(methods.items(), "osx", strict=True):
    accuracy = []
    for n_sources in (1, 2, 3):
        rows = (numbers <= n_sources) & (numbers != 0)
        model = AlignedClassifier(method, train_on="source+target")
        model.fit(X[rows], seen[rows], sample_domain=numbers[rows])
        accuracy.append(100 * model.score(X[hidden], y[hidden]))
    left.plot([1, 2, 3], accuracy, marker=marker, label=name)
left.set(xlabel="sources", ylabel="accuracy on the target (%)", xticks=[1, 2, 3], ylim=(0, 105))
left.legend()
model = AlignedClassifier(methods["SSMA"]).fit(X, seen, sample_domain=numbers)
Z = model.transform(X, sample_domain=numbers)
for number, marker in zip([1, 2, 3, -4], ["o", "s", "^", "x"], strict=True):
    rows = numbers == number
    right.scatter(*Z[rows].T, c=y[rows], marker=marker, s=14, cmap="tab10")
right.set(title="SSMA: four domains in one space", xticks=[], yticks=[])
plt.show()
