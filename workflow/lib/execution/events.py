"""What a worker tells its guard, one JSON line each, through a pipe that a method can write to.

So nothing is believed that does not have the form of an event, and every event stands on a line
of its own, whatever was written before it.
"""

import json
import os

# Fields of each kind, with their types.
KINDS = {
    "start": {"trial": int},
    "done": {"trial": int, "records": list},
    "error": {"trial": int, "error": str, "seconds": float},
    "refused": {"error": str},  # an input is damaged
    "unwritten": {"error": str},  # the scratch folder takes no more
    "end": {"code": int},
}
_LONGEST = 2**28  # bytes of a line


class EventWriter:
    """The worker's end. A copy of the worker that a method has forked ends when it would speak."""

    def __init__(self, descriptor: int):
        self._descriptor, self._owner = descriptor, os.getpid()
        os.set_inheritable(descriptor, False)

    def tell(self, event: str, **fields: object) -> None:
        """Send an event; the fields must be JSON, without NaN (`ValueError`, `TypeError`)."""
        line = json.dumps({"event": event, **fields}, allow_nan=False)
        if os.getpid() != self._owner:
            os._exit(0)
        content = f"\n{line}\n".encode()
        while content:
            content = content[os.write(self._descriptor, content) :]


class EventReader:
    """The guard's end: takes bytes as they come, gives the events among them."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._held = 0

    def feed(self, chunk: bytes) -> list[dict]:
        """Events that are complete with this chunk."""
        *lines, rest = chunk.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._parts, lines[0]])
            self._parts, self._held = [], 0
        if rest and self._held < _LONGEST:
            self._parts.append(rest)
            self._held += len(rest)
        return [event for line in lines if (event := _event(line)) is not None]


def _event(line: bytes) -> dict | None:
    try:
        event = json.loads(line)
        fields = KINDS[event["event"]]
        fits = all(type(event[name]) is kind for name, kind in fields.items())
        fits &= all(type(record) is dict for record in event.get("records", []))
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return event if fits else None
