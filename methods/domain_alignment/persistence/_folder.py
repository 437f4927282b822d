"""A fitted model as a folder: ``model.json``, ``arrays.npz``, their sums and a card."""

import hashlib
import io
import json
import math
import platform
import stat
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from domain_alignment.exceptions import SavedModelError
from domain_alignment.persistence._card import model_card
from domain_alignment.persistence._state import Decoder, Encoder
from domain_alignment.persistence._target_model import TargetModel
from domain_alignment.persistence._versions import check_versions, versions_of
from domain_alignment.utils.validation import dense

FORMAT = 1
STATE, ARRAYS, SUMS, CARD = "model.json", "arrays.npz", "SHA256SUMS", "MODEL_CARD.md"


def save_model(
    path,
    model,
    *,
    title=None,
    data=None,
    accuracy=None,
    interval=None,
    notes=(),
    example=None,
    trusted=(),
):
    """Write a fitted model to a folder, without pickle.

    Parameters
    ----------
    path : path-like
        The folder. One that holds a saved model is replaced; any other must be empty.
    model : AlignedClassifier or TargetModel
        Fitted. Of an `AlignedClassifier` the target's part is kept.
    title : str, optional
        First line of the card.
    data : dict of str to (str or number), optional
        What the model was made from, for the card: ``{"Source": "lab A, 300 samples"}``.
    accuracy : float, optional
        Expected accuracy on new target samples, a share of 1.
    interval : (float, float), optional
        Its interval.
    notes : sequence of str, default=()
        Sentences for the card, such as how the accuracy was estimated.
    example : array-like or data frame of shape (n, n_features), optional
        Some rows of the target, kept as an example of the input.
    trusted : collection of str, default=()
        Addresses ``"package.module:Class"`` of other packages' classes to be saved too.

    Returns
    -------
    folder : Path

    Raises
    ------
    SavedModelError
        If the aligner cannot embed new samples, or a part is of a class that is not saved.
    ValueError
        If `model` is neither of the two, the folder holds other files, or the accuracy is no
        number.

    Notes
    -----
    The folder holds all attributes of the fitted objects. Every aligner has its embeddings of the
    **training samples**, which of a domain that stays as it is are the samples themselves, and many
    have the samples too, so hand it on as you would the data.

    Cost: the size of the fitted objects, in time and on disk.

    Examples
    --------
    >>> import tempfile
    >>> from domain_alignment import CORAL, AlignedClassifier
    >>> y = np.tile(np.repeat(["no", "yes"], 10), 2)
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + 4 * (y == "yes")[:, None]
    >>> model = AlignedClassifier(CORAL()).fit(X, y, np.repeat([1, -2], 20))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load_model(save_model(folder, model))
    >>> bool((again.predict(X[20:]) == model.predict(X[20:])).all())
    True
    """
    if accuracy is not None and not math.isfinite(accuracy):
        raise ValueError(f"accuracy={accuracy}; give a number, or None where it is not known")
    kept = _target_part(model)
    encoder = Encoder(trusted)
    content = {
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "about": {
            "title": title,
            "data": dict(data or {}),
            "accuracy": accuracy,
            "interval": None if interval is None else list(interval),
            "notes": list(notes),
        },
        "classes": kept.classes_.tolist(),
        "features": None if kept.feature_names_in_ is None else kept.feature_names_in_.tolist(),
        "n_features": kept.n_features_in_,
        "text_features": kept.text_features,
        "probabilities": hasattr(kept, "predict_proba"),
        "example": None if example is None else _checked_example(kept, example),
        "model": encoder.encode(kept),
    }
    content["packages"] = versions_of(encoder.packages)
    arrays = io.BytesIO()
    np.savez(arrays, **encoder.arrays)
    files = {
        STATE: json.dumps(content, indent=1, allow_nan=False, default=_plain).encode(),
        ARRAYS: arrays.getvalue(),
        CARD: model_card(kept, content, arrays.tell()).encode(),
    }
    files[SUMS] = _sums({name: files[name] for name in (STATE, ARRAYS)}).encode()
    return _write(Path(path), files)


def _plain(value):
    """A number of NumPy in the words of the card as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    raise SavedModelError(f"{value!r} is part of what is said of the model; give text or numbers")


def load_model(path, *, trusted=()):
    """The model of a folder that :func:`save_model` wrote.

    Parameters
    ----------
    path : path-like
    trusted : collection of str, default=()
        As it was given to :func:`save_model`; these classes are imported.

    Returns
    -------
    model : TargetModel
        With ``predict(X)``, ``transform(X)`` and, where there are probabilities, ``predict_proba``.

    Raises
    ------
    SavedModelError
        If a file is missing or a byte of it has changed; if the format, or the major or minor
        version of a package, is another one; or if it names a class that is not allowed.

    Notes
    -----
    Nothing in the folder is executed: objects are made by ``__new__`` of known classes and given
    their attributes. The sums find damage; they do not prove who wrote the folder.
    """
    content, arrays = _read(Path(path))
    check_versions(content["packages"], str(path))
    try:
        model = Decoder(arrays, trusted).decode(content["model"])
    except SavedModelError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise SavedModelError(
            f"{path}: {STATE} is not what this format describes ({type(error).__name__}: {error}); "
            "save the model again"
        ) from error
    if not isinstance(model, TargetModel):
        raise SavedModelError(f"{path}: holds a {type(model).__name__} and no TargetModel")
    return model


def describe_model(path):
    """What ``model.json`` says of a model beside its state, checked as :func:`load_model` does.

    Returns
    -------
    about : dict
        "format", "created", "packages", "classes", "features", "n_features", "text_features",
        "probabilities", "example" and "about".
    """
    content, _ = _read(Path(path))
    return {name: value for name, value in content.items() if name != "model"}


def _target_part(model):
    if isinstance(model, TargetModel):
        return model
    if not hasattr(model, "aligner_"):
        raise ValueError(
            f"model: is a {type(model).__name__}; give a fitted AlignedClassifier (of a search its "
            "best_estimator_), or a TargetModel"
        )
    return TargetModel.of(model)


def _checked_example(model, example):
    """Rows of the example as lists, which the model can predict."""
    model.predict(example)
    rows = np.asarray(dense(example), dtype=object)
    return [[_cell(value) for value in row] for row in rows]


def _cell(value):
    """Text, a number, or None for what is missing: JSON has no NaN."""
    if isinstance(value, str):
        return value
    try:
        number = float(value)
    except TypeError:  # None, pandas' NA
        return None
    return number if math.isfinite(number) else None


def _sums(files):
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()]
    return "".join(lines)


def _write(path, files):
    """Write the folder as a whole: an interrupted save leaves the former one or none."""
    folder, path = path, path.resolve()  # of a link the folder that it names
    mode = None
    if path.exists():
        _check_replaceable(path, files)
        mode = stat.S_IMODE(path.stat().st_mode)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as parent:
        new, old = Path(parent) / "new", Path(parent) / "old"
        new.mkdir()
        if mode is not None:  # a folder for some people's eyes stays one
            new.chmod(mode)
        for name, data in files.items():
            (new / name).write_bytes(data)
        _exchange(new, path, old)
    return folder


def _exchange(new, path, old):
    """Put a folder in the place of another, which is moved aside, or stays if it cannot be."""
    if path.exists():
        try:
            path.rename(old)  # which, unlike `shutil.move`, never copies and deletes
        except OSError as error:
            raise ValueError(
                f"{path}: cannot be replaced ({error.strerror}), as where a disk is mounted there; "
                "give a folder in it"
            ) from error
    try:
        new.rename(path)
    except OSError:
        if old.exists():
            old.rename(path)
        raise


def _check_replaceable(path, files):
    """Raise ``ValueError`` unless a saved model is all that would be lost, or nothing."""
    here = {entry.name for entry in path.iterdir()} if path.is_dir() else None
    if here is None or (here and not {STATE, SUMS} <= here):
        raise ValueError(f"{path}: is there and is no saved model; give a new or an empty folder")
    if others := sorted(here - files.keys()):
        raise ValueError(
            f"{path}: holds {', '.join(others)} too, which a saved model has not; give a new or an "
            "empty folder"
        )


def _read(path):
    """Checked content of ``model.json``, and the arrays."""
    files = {}
    for name in (SUMS, STATE, ARRAYS):
        try:
            files[name] = (path / name).read_bytes()
        except OSError as error:
            raise SavedModelError(
                f"{path / name}: cannot be read ({error.strerror}); give the folder of "
                "a saved model"
            ) from error
    _check_sums(path, files)
    content = json.loads(files[STATE])
    if not isinstance(content, dict):
        raise SavedModelError(f"{path / STATE}: holds no description; save the model again")
    if content.get("format") != FORMAT:
        raise SavedModelError(
            f"{path}: has the format {content.get('format')}; this version of domain-alignment "
            f"reads {FORMAT}. Install the one it was saved with ({content.get('packages')})"
        )
    with np.load(io.BytesIO(files[ARRAYS]), allow_pickle=False) as arrays:
        return content, {name: arrays[name] for name in arrays.files}


def _check_sums(path, files):
    noted = files[SUMS].decode(errors="replace").splitlines(keepends=True)
    found = _sums({name: files[name] for name in (STATE, ARRAYS)}).splitlines(keepends=True)
    for name, now, before in zip(
        (STATE, ARRAYS, SUMS), [*found, ""], [*noted, "", ""], strict=False
    ):
        if now != before:
            raise SavedModelError(
                f"{path / name}: its sha256 is {now[:64]!r}, and {SUMS} says {before[:64]!r}; the "
                "model was changed or damaged: copy it again, or save it again"
            )
