"""What is drawn of bodies, as far as a file of another program can hold it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from haugmbd.bodies.body import Body
from haugmbd.bodies.shapes import Shape


def drawn_shapes(body: Body) -> tuple[Shape, ...]:
    """Return the shapes of a body that were given; those of its solid where the default is drawn."""
    found: list[Shape] = []
    for shape in body.shape:
        found += [one for one in (body.solid if shape is ... else (shape,)) if isinstance(one, Shape)]
    return tuple(found)


def written_shapes(body: Body, write: Callable[[Shape], str], left: list[str]) -> list[str]:
    """Return the texts of the shapes of a body; `write` returns "" for one that the file cannot hold, which is appended to `left`."""
    texts, missing = [], Counter[str]()
    for shape in drawn_shapes(body):
        text = write(shape)
        texts += [text] if text else []
        missing[type(shape).__name__] += not text
    kinds = ", ".join(f"{n} {kind}" for kind, n in missing.items() if n)
    left += [f"shapes of body {body.name!r}: {kinds}"] if kinds else []
    return texts


def rgba(color: str, separator: str = " ") -> str:
    """Return "#rrggbb" as four numbers from 0 to 1."""
    return separator.join([*(f"{int(color[k : k + 2], 16) / 255.0:.6g}" for k in (1, 3, 5)), "1"])


def positive(values: Iterable[float]) -> bool:
    """Return whether all sizes are positive; a plate or a line has none in other programs."""
    return all(x > 0.0 for x in values)
