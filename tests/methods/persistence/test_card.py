"""The card says what a saved model is, in Markdown that shows as written."""

import numpy as np
import sklearn
from domain_alignment import GFK, AlignedClassifier
from domain_alignment.persistence import TargetModel, save_model
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from tests.methods.persistence.test_folder import CLASSES, stacked


def card(folder, **told):
    X, y, domain, _ = stacked()
    model = AlignedClassifier(GFK(n_components=2), preprocessing=StandardScaler())
    return (save_model(folder, model.fit(X, y, domain), **told) / "MODEL_CARD.md").read_text()


def test_it_says_what_the_model_is_and_was_made_from(tmp_path):
    text = card(
        tmp_path / "model",
        title="Trees of two forests",
        data={"Source": "north | 2019"},
        accuracy=0.834,
        interval=(0.79, 0.87),
        notes=["Estimated without target labels."],
    )
    assert text.startswith("# Trees of two forests\n")
    for part in (
        "preprocessing (StandardScaler), alignment (GFK), classification (LogisticRegression)",
        "| Source | north \\| 2019 |",
        "| Domain 0 (another) | 45 training samples, 6 features when aligned |",
        "| Domain 1 (this one) | 48 training samples, 6 features when aligned |",
        "| Classes | 3: ash, birch, cedar, red |",
        "| GFK: n_components | `2` |",
        "On new target samples, as estimated: 83.4 % (interval 79.0 to 87.0 %). "
        "Estimated without target labels.",
        "domain-alignment predict MODEL_FOLDER new.csv",
        "the class and the confidence of each row",
        f"| scikit-learn | {sklearn.__version__} |",
    ):
        assert part in text, part


def test_what_is_not_told_is_not_invented(tmp_path):
    text = card(tmp_path / "model")
    assert text.startswith("# GFK and LogisticRegression\n")
    assert "Not stated." in text


def test_without_probabilities_no_confidence_is_promised_and_long_lists_are_cut(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    Xs = [rng.normal(size=(60, 50)) + 9 * np.eye(3, 50)[y] for _ in range(2)]
    aligner = GFK(n_components=2).fit(Xs)
    classifier = SVC().fit(aligner.embeddings_[0], CLASSES[y])
    model = TargetModel(aligner, classifier, feature_names=[f"f{i}" for i in range(50)])
    text = (save_model(tmp_path / "model", model) / "MODEL_CARD.md").read_text()
    assert "writes the class of each row" in text
    assert "50: f0, f1" in text
    assert "f39, ..." in text
    assert "f40" not in text


def test_a_step_that_occurs_twice_is_told_twice(tmp_path):
    steps = make_pipeline(Normalizer("l1"), StandardScaler(), Normalizer("l2"))
    X, y, domain, _ = stacked()
    model = AlignedClassifier(GFK(n_components=2), preprocessing=steps).fit(X, y, domain)
    told = (save_model(tmp_path / "model", model) / "MODEL_CARD.md").read_text()
    assert "Normalizer 1: norm | `'l1'`" in told
    assert "Normalizer 2: norm | `'l2'`" in told
    assert "| StandardScaler: with_mean | `True`" in told
