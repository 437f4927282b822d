"""
Own data: two tables, one answer
================================

Two tables of measurements, an old one with labels and a new one without: labels are words, some
cells are empty, and the new instrument drifted. The same in one command, for fast methods of
several families (with ``--budget full`` all that apply) and with settings chosen for each, is
``make compare`` (:doc:`/start`); here it is in Python, for four methods.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from domain_alignment import CORAL, JDA, TCA, AlignedClassifier, NoAdaptation
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(0)
GASES = np.array(["ethanol", "ethylene", "ammonia"])
CHANNELS = [f"sensor {number}" for number in range(1, 7)]
response = rng.normal(size=(3, 6))  # of each channel to three latent concentrations


def measure(n_samples, drift):
    """A table with a column of classes; channels respond differently after a drift."""
    gas = rng.integers(3, size=n_samples)
    latent = 2.5 * np.eye(3)[gas] + 0.7 * rng.normal(size=(n_samples, 3))
    table = pd.DataFrame(latent @ (response + drift) + 2 * drift[0], columns=CHANNELS)
    table = table.mask(rng.random(table.shape) < 0.02)  # empty cells
    return table.assign(gas=GASES[gas])


old = measure(150, np.zeros((3, 6)))
new = measure(150, 1.1 * rng.normal(size=(3, 6)))
old.head()

# %%
# Stack the tables and say which row belongs to which domain. Labels of the target are hidden:
# ``None`` is unlabelled. We keep them to one side, to see afterwards how well each method did.

X = pd.concat([old, new])[CHANNELS]
labels = pd.concat([old["gas"], new["gas"]]).to_numpy()
sample_domain = np.repeat(["old", "new"], [len(old), len(new)])
seen = np.where(sample_domain == "old", labels, None)

# %%
# An imputer and a scaler are fitted *to each domain by itself*. A scaler before the estimator would
# be fitted to both and keep their shift.

preprocessing = make_pipeline(SimpleImputer(), StandardScaler())
methods = {
    "no adaptation": NoAdaptation(),
    "CORAL": CORAL(),
    "TCA": TCA(n_components=4),
    "JDA": JDA(n_components=4),
}
models, accuracy = {}, {}
for name, aligner in methods.items():
    model = AlignedClassifier(aligner, preprocessing=preprocessing, target_domain="new")
    models[name] = model.fit(X, seen, sample_domain=sample_domain)
    accuracy[name] = np.mean(model.predict(new[CHANNELS]) == new["gas"])

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.barh(list(accuracy), [100 * value for value in accuracy.values()], color="#4a6fa5")
left.invert_yaxis()
left.set(xlabel="accuracy on the target (%)", xlim=(0, 100))
best = max(accuracy, key=accuracy.get)
Z = models[best].transform(X, sample_domain=sample_domain)
Z = PCA(2).fit_transform(Z)
for gas, colour in zip(GASES, ["#c1554e", "#4a6fa5", "#5b8f5b"], strict=True):
    for domain, marker in [("old", "o"), ("new", "x")]:
        rows = (labels == gas) & (sample_domain == domain)
        right.scatter(*Z[rows].T, c=colour, marker=marker, s=18, label=f"{gas}, {domain}")
right.set(title=f"after {best}", xticks=[], yticks=[])
right.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()

# %%
# On data of your own the target has no labels, so the left picture cannot be drawn. What can be
# done then is the subject of :doc:`plot_2_without_target_labels`.
