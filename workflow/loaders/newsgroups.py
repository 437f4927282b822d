"""20 Newsgroups, by date: posts on two topics, from different groups in each domain.

The archive ``20news-bydate.tar.gz`` holds ``20news-bydate-{train,test}/{group}/{number}``, one
Latin-1 text per post, with headers; these folders may lie below others, as in the archive of a
repository. Both parts are used. ``remove`` says what is cut from a post,
by the rules and in the order of scikit-learn's ``fetch_20newsgroups``:

- ``headers``: everything up to the first empty line (From, Subject, Organization: writers and
  words that name the group);
- ``footers``: from the last line of dashes and blanks on, if text remains. This removes signatures,
  and the last paragraph of posts without one;
- ``quotes``: lines that begin with > or |, and the lines that introduce them ("... writes:").

Words are scikit-learn's: at least two letters or digits, lower case, without its English stop
words, and in at least `min_df` posts of both domains together; `words` takes the most frequent of
them. Posts without words stay as zero rows unless `empty` is false.
"""

import re
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workflow.loaders import known_domain, only_file
from workflow.loaders._text import weigh

if TYPE_CHECKING:
    from scipy import sparse

_COMP = {
    "source": ["comp.graphics", "comp.os.ms-windows.misc"],
    "target": ["comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"],
}
_OTHER = {
    "rec": {
        "source": ["rec.autos", "rec.motorcycles"],
        "target": ["rec.sport.baseball", "rec.sport.hockey"],
    },
    "sci": {
        "source": ["sci.crypt", "sci.electronics"],
        "target": ["sci.med", "sci.space"],
    },
}
# Per domain the groups of class 0 (comp) and of class 1 (rec or sci).
GROUPS = {
    f"comp_{topic}_{role}": (_COMP[role], groups[role])
    for topic, groups in _OTHER.items()
    for role in ("source", "target")
}

_QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")


def load(
    domain: str,
    paths: dict[str, Path],
    weighting: str = "counts",
    remove: tuple[str, ...] = ("headers", "footers"),
    min_df: int = 3,
    words: int | None = None,
    empty: bool = True,
) -> "tuple[sparse.csr_array, np.ndarray]":
    """Posts of one domain, in the order of groups, parts and numbers.

    Parameters
    ----------
    domain : {"comp_rec_source", "comp_rec_target", "comp_sci_source", "comp_sci_target"}
        Class 0 is comp, class 1 the other topic.
    paths : dict of str to Path
        The archive.
    weighting : {"counts", "tfidf"}
        See `workflow.loaders._text.weigh`.
    remove : list of {"headers", "footers", "quotes"}
        What is cut from every post.
    min_df : int
        Fewest posts of the task that a word must occur in.
    words : int, optional
        How many words are kept: those that occur most often in both domains together.
    empty : bool
        Whether posts that hold none of these words are kept. Left out, they still count as posts
        in the weights of words.

    Raises
    ------
    ValueError
        If the archive cannot be read or lacks a group, or a parameter is unknown.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    known_domain(domain, list(GROUPS))
    task = domain.rpartition("_")[0]
    domains = {name: groups for name, groups in GROUPS.items() if name.startswith(task)}
    wanted = [group for pair in domains.values() for groups in pair for group in groups]
    posts = _read(only_file(paths), wanted)
    texts = {group: [clean(text, remove) for text in posts[group]] for group in wanted}
    counter = CountVectorizer(
        stop_words="english", min_df=min_df, max_features=words, dtype=np.float64
    )
    both = counter.fit_transform([text for group in wanted for text in texts[group]])
    labelled = [
        (text, label)
        for label, groups in enumerate(domains[domain])
        for group in groups
        for text in texts[group]
    ]
    X = counter.transform([text for text, _ in labelled])
    y = np.array([label for _, label in labelled], dtype=np.int64)
    kept = slice(None) if empty else np.flatnonzero(np.diff(X.indptr))
    return weigh(X, both, weighting)[kept], y[kept]


def clean(text: str, remove: tuple[str, ...]) -> str:
    """A post without the named parts; see the module's docstring."""
    for part in remove:
        if part not in _CUTS:
            raise ValueError(f"remove: unknown {part!r}. Known: {', '.join(_CUTS)}")
    for part, cut in _CUTS.items():
        if part in remove:
            text = cut(text)
    return text


def _without_header(text: str) -> str:
    return text.partition("\n\n")[2]


def _without_footer(text: str) -> str:
    lines = text.strip().split("\n")
    for number in range(len(lines) - 1, 0, -1):
        if not lines[number].strip().strip("-"):
            return "\n".join(lines[:number])
    return text


def _without_quotes(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not _QUOTE.search(line))


_CUTS = {"headers": _without_header, "footers": _without_footer, "quotes": _without_quotes}


def _read(path: Path, groups: list[str]) -> dict[str, list[str]]:
    """Texts of the posts of each group, sorted by part (train first) and number."""
    found = {group: [] for group in groups}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                part, group, number = (["", "", *member.name.split("/")])[-3:]
                if member.isfile() and group in found:
                    text = archive.extractfile(member).read().decode("latin-1")
                    key = (not part.endswith("train"), int(number))
                    found[group].append((key, text.replace("\r\n", "\n")))
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise ValueError(
            f"{path}: cannot be read as an archive of posts ({error}). Is it 20news-bydate.tar.gz, "
            "and complete?"
        ) from error
    missing = [group for group in groups if not found[group]]
    if missing:
        raise ValueError(
            f"{path}: no post of {', '.join(missing)}. Expected files "
            "20news-bydate-train/{group}/{number}."
        )
    return {group: [text for _, text in sorted(posts)] for group, posts in found.items()}
