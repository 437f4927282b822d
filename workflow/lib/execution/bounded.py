"""Text of bounded length: what methods print, raise and warn may have any length and any bytes."""

import os
from collections import deque

TEXT = 4000  # characters of one text of a record
TEXTS = 40_000  # characters of one list of texts, e.g. a record's warnings
LOG_HEAD = 8 * 2**20  # bytes of a log
LOG_TAIL = 2**18


def bounded_text(text: str, most: int = TEXT) -> str:
    """A text that every writer can write, with its middle left out if it is too long."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) <= most:
        return text
    tail = most // 4
    left_out = len(text) - most
    return f"{text[: most - tail]} [... {left_out} characters left out ...] {text[-tail:]}"


def bounded_error(error: BaseException) -> str:
    """Kind and message of an error."""
    return bounded_text(f"{type(error).__name__}: {error}")


def bounded(value: object) -> object:
    """A record, or a part of one, with every text and every list of texts in bounds."""
    if isinstance(value, str):
        return bounded_text(value)
    if isinstance(value, dict):
        return {key: bounded(item) for key, item in value.items()}
    if not isinstance(value, list | tuple):
        return value
    if not all(isinstance(item, str) for item in value):
        return [bounded(item) for item in value]
    texts, room = [], TEXTS
    for text in map(bounded_text, value):
        room -= len(text)
        if room < 0:
            return [*texts, f"and {len(value) - len(texts)} more"]
        texts.append(text)
    return texts


class BoundedOutput:
    """Passes on the beginning and the end of what is printed, and says how much is between them.

    Parameters
    ----------
    descriptor : int
        Where to. Once it takes no more (a full disk), what follows is dropped.
    head, tail : int
        Bytes of the beginning, passed on at once, and of the end, passed on by `close`.
    """

    def __init__(self, descriptor: int, head: int = LOG_HEAD, tail: int = LOG_TAIL):
        self._descriptor, self._room, self._most = descriptor, head, tail
        self._tail: deque[bytes] = deque()
        self._kept = self._left_out = 0

    def write(self, chunk: bytes) -> None:
        """Take what was printed."""
        head, rest = chunk[: self._room], chunk[self._room :]
        self._room -= len(head)
        self._pass_on(head)
        if not rest:
            return
        self._tail.append(rest)
        self._kept += len(rest)
        while self._kept - len(self._tail[0]) >= self._most:
            self._kept -= len(self._tail[0])
            self._left_out += len(self._tail.popleft())

    def close(self) -> None:
        """Pass on the end."""
        if self._left_out:
            self._pass_on(f"\n[... {self._left_out} bytes left out ...]\n".encode())
        while self._tail:
            self._pass_on(self._tail.popleft())

    def _pass_on(self, content: bytes) -> None:
        try:
            while content:
                content = content[os.write(self._descriptor, content) :]
        except OSError:
            self._descriptor = -1  # what is printed is not worth a computed trial
