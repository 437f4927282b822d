"""``domain-alignment predict``: a saved model on a table of new samples."""

import csv
import os
import sys
import warnings
from pathlib import Path

from domain_alignment.exceptions import AlignmentError

# First lines of what this command writes; the predictions of an answer have other columns.
_HEADERS = (("row", "predicted"), ("row", "predicted", "confidence"))
SUMMARY = "Predict the classes of new samples of the target with a saved model."


def add_arguments(parser):
    """The arguments of the subcommand."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="folder of the saved model")
    parser.add_argument(
        "table",
        metavar="NEW",
        type=Path,
        help=(
            "new samples: a table (.csv, .tsv, .parquet), whose columns are found by name, or an "
            "array (.npy, .npz, .mat, .svmlight)"
        ),
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        default="predictions.csv",
        help=(
            'file for the predictions, "-" for the terminal (default: %(default)s). Its columns: '
            "row, counted from 0 for the first sample, so that row r is line r + 2 of a table with "
            "names in its first line and no empty or broken lines; predicted; and confidence, the "
            "probability of that class, where the classifier has probabilities"
        ),
    )
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace the file though it holds something else than predictions of this command",
    )
    parser.add_argument(
        "--separator",
        help="between the columns of text; by default as the model's own files, or found",
    )
    parser.add_argument(
        "--decimal",
        metavar="MARK",
        help="decimal mark of text; by default that of the model's own files, or a point",
    )
    parser.add_argument(
        "--first-feature",
        type=int,
        choices=(0, 1),
        help=(
            "number of the first feature in .svmlight files; by default as in the model's own "
            "files, or found"
        ),
    )
    parser.add_argument(
        "--trust",
        metavar="CLASS",
        action="append",
        default=[],
        help="class of another package, package.module:Class, that the model may hold",
    )


def run(arguments):
    """Predict, write the file, and say what was predicted."""
    # Here, so that `--help` needs no numerical package.
    from domain_alignment.cli._ranges import empty_columns, far_out
    from domain_alignment.cli._tables import first_missing, listed, read_samples
    from domain_alignment.persistence import load_model
    from domain_alignment.persistence._kinds import unknown_kinds

    said = _said_of_reading(arguments)
    folder = Path(arguments.out).parent
    if not folder.is_dir():
        raise ValueError(f"--out {arguments.out}: there is no folder {folder}; make it first")
    if not arguments.overwrite:
        _refuse_other_content(arguments.out)
    if not arguments.table.exists():
        raise ValueError(f"{arguments.table}: there is no such file in {Path.cwd()}")
    model = load_model(arguments.model, trusted=arguments.trust)
    names = None if model.feature_names_in_ is None else model.feature_names_in_.tolist()
    reading = (model.reading or {}) | said
    samples, left_out = read_samples(
        arguments.table, names, model.n_features_in_, model.text_features, reading
    )
    if left_out:
        print(f"{arguments.table}: not used: {listed(left_out)}", file=sys.stderr)
    unknown = unknown_kinds(model.preprocessing, samples, model.text_features, names)
    empty = empty_columns(samples, names)
    for told in [*unknown, *empty, *far_out(model, samples, names)]:
        print(f"{arguments.table}: warning: {told}", file=sys.stderr)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X: column .* hold a kind")  # which is told above
            predicted, confidence = _predictions(model, samples)
    except (ValueError, AlignmentError) as error:
        place = first_missing(samples, names) if "NaN" in str(error) else ""
        raise ValueError(f"{arguments.table}: {error}" + (place and f" ({place})")) from error
    rows = _rows(predicted.tolist(), confidence)
    if arguments.out == "-":
        _write_rows(sys.stdout, rows)
    else:
        _write_file(Path(arguments.out), rows)
        print(f"{arguments.out}: {len(predicted)} rows, {_counts(predicted)}")
    return 0


def _said_of_reading(arguments):
    """What the options say of how the file is written."""
    separator, decimal, first = arguments.separator, arguments.decimal, arguments.first_feature
    for option, mark in (("--separator", separator), ("--decimal", decimal)):
        if mark is not None and len(mark) != 1:
            raise ValueError(f"{option} {mark!r}: is no single character; give one")
    said = {"separator": separator, "decimal": decimal}
    said["zero_based"] = None if first is None else first == 0
    return {key: value for key, value in said.items() if value is not None}


def _predictions(model, samples):
    """Classes, and the probability of each if there is one."""
    predicted = model.predict(samples)
    if not hasattr(model, "predict_proba"):
        return predicted, None
    import numpy as np  # here, as in `run`

    # Of the class that is predicted, which is not always the one with the highest probability.
    columns = {label: at for at, label in enumerate(model.classes_.tolist())}
    of_predicted = [columns[label] for label in predicted.tolist()]
    return predicted, model.predict_proba(samples)[np.arange(len(predicted)), of_predicted]


def _rows(predicted, confidence):
    """Header and rows; samples are counted from 0, as in the predictions of an answer."""
    if confidence is None:
        return [_HEADERS[0], *enumerate(predicted)]
    rows = [
        (at, label, f"{share:.6f}")
        for at, (label, share) in enumerate(zip(predicted, confidence, strict=True))
    ]
    return [_HEADERS[1], *rows]


def _refuse_other_content(out):
    """A file there is replaced only if this command may have written it."""
    if out == "-" or not Path(out).is_file() or not Path(out).stat().st_size:
        return
    with open(out, "rb") as stream:
        first = stream.readline(100).decode("utf-8", "replace").strip()
    if first not in [",".join(header) for header in _HEADERS]:
        raise ValueError(
            f"--out {out}: the file there is not of this command; say --out with another name, or "
            "--overwrite"
        )


def _counts(predicted):
    labels = predicted.tolist()
    return ", ".join(f"{label}: {labels.count(label)}" for label in sorted(set(labels)))


def _write_rows(stream, rows):
    csv.writer(stream, lineterminator="\n").writerows(rows)


def _write_file(path, rows):
    """The whole file or none; a former one stays until then. Devices and pipes are written to."""
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8", newline="") as stream:
            return _write_rows(stream, rows)
    path = path.resolve()  # of a link the file that it names
    making = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with making.open("w", encoding="utf-8", newline="") as stream:
            _write_rows(stream, rows)
        making.replace(path)
    finally:
        making.unlink(missing_ok=True)
