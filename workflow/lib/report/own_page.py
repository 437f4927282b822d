"""The page of an answer on data of one's own: what to do first, then why."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd

from workflow.lib.report.html import rendered, written
from workflow.lib.report.own_tables import (
    agreement_table,
    classes_table,
    features_table,
    methods_table,
    picks_table,
)
from workflow.lib.report.own_words import (
    advice,
    check_words,
    diagnosis,
    headline,
    points,
    saved_words,
    sentence,
)
from workflow.lib.report.tables.model import to_html
from workflow.lib.results.own_answer import GAIN_OF_INTEREST, Candidate
from workflow.lib.results.own_view import Own, hidden_accuracies
from workflow.lib.results.power import POWER
from workflow.lib.results.shift_diagnosis import worth_labelling
from workflow.lib.results.significance import ALPHA
from workflow.lib.storage.artifacts import atomic_write, write_json


def predictions_frame(own: Own) -> pd.DataFrame:
    """Predicted class of every target row, by its place in the file, with its confidence."""
    used = own.answer.used
    names = np.asarray(own.class_names)
    frame = pd.DataFrame(
        {
            "row": own.file_rows,
            "predicted": names[used.predicted],
            "agreement": np.round(np.mean(own.votes == used.predicted, axis=0), 4),
        }
    )
    if used.confidence is not None:
        frame["confidence"] = np.round(used.confidence.astype(float), 4)
    return frame


def labelling_frame(own: Own) -> pd.DataFrame:
    """Rows to label next, the most telling first, with what the methods say."""
    rows = worth_labelling(own.votes, own.features, own.shown < 0)
    names = np.asarray(own.class_names)
    said = []
    for row in rows:
        classes, counts = np.unique(own.votes[:, row], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        said.append(", ".join(f"{names[classes[c]]} ({counts[c]})" for c in order))
    return pd.DataFrame({"row": own.file_rows[rows], "methods_say": said})


def write_answer(own: Own, folder: Path | str) -> None:
    """Write answer.html, answer.json, predictions.csv and to_label.csv into a folder."""
    folder = Path(folder)
    to_label = labelling_frame(own)
    _csv(predictions_frame(own), folder / "predictions.csv")
    _csv(to_label, folder / "to_label.csv")
    write_json(folder / "answer.json", summary(own))
    tables = [picks_table(own), methods_table(own), classes_table(own), agreement_table(own)]
    if own.shift.features is not None:
        tables.append(features_table(own.shift))
    written(
        rendered(
            "answer.html.j2",
            title=own.title,
            own=own,
            headline=headline(own),
            advice=advice(own),
            gain=points(own.answer.gain),
            sure=100 * (1 - ALPHA),
            power=100 * POWER,
            sought=100 * max(abs(own.answer.gain.expected), GAIN_OF_INTEREST),
            diagnosis=diagnosis(own),
            tables={table.name: to_html(table) for table in tables},
            to_label=to_label.to_dict("records"),
            check=check_words(own),
            saved=saved_words(own),
            folder=f"results/{own.name}",
        ),
        folder / "answer.html",
    )


def summary(own: Own) -> dict:
    """The answer in numbers, for programs."""
    answer = own.answer
    return {
        "verdict": answer.verdict,
        "sentence": sentence(own),
        # Whose predictions are in predictions.csv: not the best that adapts where none should.
        "used": _named(answer.used),
        "best_adapting": _named(answer.best),
        "baseline": _named(answer.baseline),
        # The model that is kept for new samples, with what is to be expected of it.
        "saved": {
            **_named(answer.saved),
            "label": own.labels_of[answer.saved.method],
            "accuracy": dataclasses.asdict(answer.accuracy_of(answer.saved)),
        },
        "expected_accuracy": dataclasses.asdict(answer.expected),
        "without_adaptation": dataclasses.asdict(answer.without),
        "gain": dataclasses.asdict(answer.gain),
        "differing": answer.differing,
        "target_labels_used": answer.n_labels,
        "labels_more": answer.n_more,
        "hidden_accuracy": hidden_accuracies(own),
    }


def _named(one: Candidate) -> dict:
    return {"method": one.method, "candidate": one.number, "settings": one.words}


def _csv(frame: pd.DataFrame, path: Path) -> None:
    with atomic_write(path) as temporary:
        frame.to_csv(temporary, index=False, lineterminator="\n")
