"""The card of a saved model: what it is, what it was made from, how to use it."""

import reprlib
from textwrap import dedent

import numpy as np
from sklearn.preprocessing import FunctionTransformer

from domain_alignment.persistence._versions import distribution

_MOST_NAMES = 40  # of classes or features; model.json has them all
_LONGEST_VALUE = 100  # characters of a setting


def model_card(model, content, n_bytes):
    """Text of ``MODEL_CARD.md``.

    Parameters
    ----------
    model : TargetModel
    content : dict
        Of ``model.json``.
    n_bytes : int
        Size of the arrays.

    Returns
    -------
    card : str
        Markdown.
    """
    about = content["about"]
    parts = [
        f"# {about['title'] or _what(model)}",
        _summary(model, content),
        "## Data\n\n" + _table(_data(model, content)),
        "## Settings\n\n" + _table(_settings(model)),
        "## Expected accuracy\n\n" + _accuracy(about),
        "## Use\n\n" + _use(content),
        "## Versions\n\n" + _table(_versions(content)),
        "## Contents\n\n" + _contents(n_bytes),
    ]
    return "\n\n".join(parts) + "\n"


def _what(model):
    return f"{type(model.aligner).__name__} and {_predictor(model)}"


def _predictor(model):
    return "its own classifier" if model.classifier is None else type(model.classifier).__name__


def _summary(model, content):
    steps = [type(step).__name__ for step in _steps(model.preprocessing) if step is not None]
    return (
        f"Predicts one of {len(model.classes_)} classes for samples of the target domain: "
        f"preprocessing ({', '.join(steps) or 'none'}), "
        f"alignment ({type(model.aligner).__name__}), classification ({_predictor(model)}). "
        f"Saved {content['created']}."
    )


def _data(model, content):
    rows = dict(content["about"]["data"])
    sizes = [np.shape(Z)[0] for Z in model.aligner.embeddings_]
    widths = model.aligner.n_features_in_
    for domain, (n, p) in enumerate(zip(sizes, widths, strict=True)):
        role = "this one" if domain == model.domain else "another"
        rows[f"Domain {domain} ({role})"] = f"{n} training samples, {p} features when aligned"
    names = content["features"]
    rows["Features of new samples"] = (
        f"{model.n_features_in_}, without names" if names is None else _listed(names)
    )
    rows["Classes"] = _listed(content["classes"])
    return rows


def _settings(model):
    brief = reprlib.Repr()
    brief.maxother = brief.maxstring = _LONGEST_VALUE
    parts = (*_steps(model.preprocessing), model.aligner, model.classifier)
    parts = [part for part in parts if part is not None]
    return {
        f"{called}: {name}": f"`{brief.repr(value)}`"
        for called, part in zip(_called(parts), parts, strict=True)
        for name, value in part.get_params(deep=False).items()
    }


def _called(parts):
    """Names of their classes, with numbers where a class occurs more than once."""
    names = [type(part).__name__ for part in parts]
    return [
        f"{name} {names[: at + 1].count(name)}" if names.count(name) > 1 else name
        for at, name in enumerate(names)
    ]


def _steps(preprocessing):
    """What a pipeline is made of, without those that change nothing."""
    if preprocessing is None or not hasattr(preprocessing, "named_steps"):
        return [preprocessing]
    return [step for _, step in preprocessing.steps if not _is_identity(step)]


def _is_identity(step):
    if step is None or step == "passthrough":
        return True
    return isinstance(step, FunctionTransformer) and step.func is None


def _accuracy(about):
    if about["accuracy"] is None:
        told = ["Not stated."]
    else:
        told = [f"On new target samples, as estimated: {100 * about['accuracy']:.1f} %"]
        if about["interval"] is not None:
            low, high = about["interval"]
            told[0] += f" (interval {100 * low:.1f} to {100 * high:.1f} %)"
        told[0] += "."
    return " ".join([*told, *about["notes"]])


def _use(content):
    probabilities = " and the confidence" if content["probabilities"] else ""
    return dedent(
        f"""\
        ```sh
        domain-alignment predict MODEL_FOLDER new.csv --out predictions.csv
        ```

        writes the class{probabilities} of each row of `new.csv`. In Python:

        ```python
        from domain_alignment.persistence import load_model

        load_model("MODEL_FOLDER").predict(X_new)
        ```

        The rows must be samples of the target domain with the features above, measured in the same
        way. Nothing warns of samples of another domain: they are predicted too."""
    )


def _versions(content):
    rows = {distribution(name): version for name, version in content["packages"].items()}
    return rows | {"Python": f"{content['python']} (not compared)"}


def _contents(n_bytes):
    return (
        f"`model.json` and `arrays.npz` ({n_bytes / 1e6:.1f} MB) hold numbers and text, no code. "
        "They are refused where a byte of them has changed (`SHA256SUMS`), or the major or minor "
        "version of a package above is another one. Every model holds the aligned training "
        "samples, which of a domain that stays as it is are its features, and many hold the "
        "samples themselves: hand the folder on as you would the data."
    )


def _listed(names):
    shown = ", ".join(_cell(name) for name in names[:_MOST_NAMES])
    return f"{len(names)}: {shown}" + (", ..." if len(names) > _MOST_NAMES else "")


def _table(rows):
    lines = [f"| {_cell(name)} | {_cell(value)} |" for name, value in rows.items()]
    return "\n".join(["| | |", "|---|---|", *lines])


def _cell(value):
    return " ".join(str(value).split()).replace("|", "\\|")
