"""
New samples: keep a model and use it tomorrow
=============================================

An alignment is fitted to the rows that are there. Can the model place rows that come later?
Methods of this library can: some are maps, others extend the embedding of the rows of ``fit`` to
those nearby. A mapping of another package may be for the rows of ``fit`` alone; its
``capabilities`` say so beforehand.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
from domain_alignment import CORAL, FMA, TCA, TKL, AlignedClassifier
from domain_alignment.persistence import load_model, save_model
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

X, y = load_digits(n_class=6, return_X_y=True)
rng = np.random.default_rng(0)
order = rng.permutation(len(y))[:900]
X, y = X[order], y[order]
images = X[300:].reshape(-1, 8, 8)  # the target: moved by half a pixel, with noise
moved = ((images + np.roll(images, 1, axis=2)) / 2).reshape(-1, 64)
X[300:] = moved + 2 * rng.normal(size=moved.shape)
sample_domain = np.repeat([1, -2], [300, 600])
seen = np.where((sample_domain > 0) | (np.arange(900) % 30 == 0), y, -1)

# %%
# Half of the target is there at ``fit``, the other half comes later. The first bar is the accuracy
# on the rows of ``fit`` (`transduction_`), the second on new ones (``predict``).

fitted, new = np.arange(600), np.arange(600, 900)
methods = {
    "CORAL": CORAL(),
    "TCA": TCA(n_components=20),
    "TKL": TKL(),
    "FMA-I": FMA(level="instance", n_components=20, n_neighbors=10),
}
bars = {}
for name, aligner in methods.items():
    model = AlignedClassifier(aligner, train_on="source+target", preprocessing=StandardScaler())
    model.fit(X[fitted], seen[fitted], sample_domain=sample_domain[fitted])
    rows = fitted[(sample_domain[fitted] < 0) & (seen[fitted] < 0)]
    here = np.mean(model.transduction_[rows] == y[rows])
    bars[name] = 100 * here, 100 * model.score(X[new], y[new])

fig, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
place = np.arange(len(bars))
axis.bar(place - 0.2, [pair[0] for pair in bars.values()], 0.4, label="rows of fit")
axis.bar(place + 0.2, [pair[1] for pair in bars.values()], 0.4, label="new rows")
axis.set(xticks=place, xticklabels=list(bars), ylabel="accuracy (%)", ylim=(0, 105))
axis.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()

# %%
# A fitted model is kept as a folder of numbers and text, without pickle. Another minor version
# of a package, or a changed byte, is refused when it is loaded; on the command line
# ``domain-alignment predict model new.csv`` does the same.

with tempfile.TemporaryDirectory() as folder:
    model = AlignedClassifier(CORAL(), preprocessing=StandardScaler())
    model.fit(X[fitted], seen[fitted], sample_domain=sample_domain[fitted])
    save_model(f"{folder}/model", model)
    again = load_model(f"{folder}/model")
    print("the same predictions:", np.array_equal(again.predict(X[new]), model.predict(X[new])))
