"""The folder of the trajectories of a batch: one file of a result for each member, written as its run ends, so that memory is bounded.

    folder/batch.json            what the batch is: a digest of model, laws, states, parameters and methods
    folder/member_00000012.npz   the Result of member 12, see `simulation.io`
    folder/member_00000012.txt   why its run did not reach its end

Every file is whole or not there. A batch with the same folder continues where another one of the same digest ended; a folder of another
batch is refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.simulation.results.result import Result

HEAD = "batch.json"
FORMAT = "haugmbd batch 2"
"""The digest of format 1 did not hold the functions of the user."""


class TrajectoryStore:
    """Results of members in a folder."""

    def __init__(self, folder: str | Path, identity: str, members: int) -> None:
        self.folder = path_of(folder, "store")
        head = {"format": FORMAT, "members": members, "identity": identity}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise UsageError(f"store = {str(folder)!r} is a file: give the name of a folder.") from None
        except OSError as error:
            raise UsageError(
                f"store = {str(folder)!r} cannot be made: {error.strerror}. Give a folder that can be written to."
            ) from None
        path = self.folder / HEAD
        if path.exists():
            self._check(path, head)
            return
        if any(self.folder.iterdir()):
            raise UsageError(f"store = {str(folder)!r} holds other files: give a new or an empty folder.")
        with replace_file(path) as file:
            file.write(json.dumps(head, indent=1).encode())

    def _check(self, path: Path, head: dict[str, Any]) -> None:
        """Raise UsageError if the folder is that of another batch."""
        try:
            stored = json.loads(path.read_text())
        except ValueError:
            raise UsageError(f"store: {str(path)!r} is damaged. Give another folder, or delete this one.") from None
        if stored != head:
            what = next((name for name in head if stored.get(name) != head[name]), "content")
            words = {
                "identity": "another model, other laws, states, parameters, methods or version",
                "members": f"{stored.get('members')} members",
            }
            raise UsageError(
                f"store = {str(self.folder)!r} is that of another batch, of {words.get(what, 'another format')}: give another folder, "
                "or delete this one."
            )

    def known(self, k: int) -> tuple[Path | None, str] | None:
        """Return the file of member k, None if it has no states, and why it did not reach its end; None if it has not run."""
        result, reason = self._path(k, "npz"), self._path(k, "txt")
        if reason.exists():
            return (result if result.exists() else None), reason.read_text()
        return (result, "") if result.exists() else None

    def keep(self, k: int, result: Result | None, reason: str) -> Path | None:
        """Write what became of member k; return the file of its states, if it has any. The reason comes last: it ends the member."""
        path = self._path(k, "npz")
        written = None
        if result is not None and len(result.t):
            written = result.save(path)
        if reason:
            with replace_file(self._path(k, "txt")) as file:
                file.write(reason.encode())
        return written

    def _path(self, k: int, ending: str) -> Path:
        return self.folder / f"member_{k:08d}.{ending}"
