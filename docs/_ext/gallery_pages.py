"""Pages of the gallery: an overview with pictures, and for each mechanism its motion, counts, sources, reference values and builder."""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import formulas
import numpy as np

import haugmbd as mbd
from haugmbd.cli.shown import counts, title
from haugmbd.gallery import GALLERY, SHOWN, Published
from haugmbd.gallery.shown import DRIVEN, STEPPED, shown_system
from haugmbd.viewer.animate import animation

HEAD = """# Gallery: pictures

Every mechanism of the [gallery](../gallery.md), drawn by the library when this page was built. Its page shows it move.

"""

FRAMES, RTOL = 240, 1e-8
"""Of an animation; relative tolerance of its run."""

PAGE = """# {name}

{what}.

```{{raw}} html
<iframe class="gallery-player" loading="lazy" title="Animation: {name}" src="../../_animations/gallery-{name}.html"></iframe>
```

*{motion}*

| bodies | rows | independent rows | degrees of freedom |
|---|---|---|---|
{counts}

{parts}

{about}
{references}
## Run it

`haugmbd demo {name}` writes this animation, and `haugmbd check {name}` prints its mobility report. In a program:

```python
import haugmbd as mbd
from haugmbd.gallery import {name}

result = mbd.simulate({name}({arguments}), {t_end:g}, {method})
result.animate("{name}.html")
```

## The builder

From `{file}`:

```python
{builder}```

```{{image}} ../figures/gallery-{name}.png
:alt: {name} at its modelled pose
:class: gallery-picture
```
"""

REFERENCES = """## Reference values

The tests hold the mechanism to them.

| quantity | t [s] | value | tolerance | source |
|---|---|---|---|---|
{lines}
"""

Builder = Callable[..., mbd.System]


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return the pages, and write pictures and animations."""
    for folder in ("figures", "animations"):
        (generated / folder).mkdir(parents=True, exist_ok=True)
    made = {f"gallery/{build.__name__}.md": page(build, generated) for build in GALLERY}
    cards = [
        f"```{{figure}} figures/gallery-{name}.png\n:alt: {name}\n:target: gallery/{name}.html\n\n[{name}](gallery/{name}.md)\n```\n"
        for name in (build.__name__ for build in GALLERY)
    ]
    listed = "\n".join(f"gallery/{build.__name__}" for build in GALLERY)
    made["gallery_pictures.md"] = (
        f"{HEAD}````{{container}} gallery-grid\n\n{''.join(cards)}````\n\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    )
    return made


def page(build: Builder, generated: Path) -> str:
    """Return the page of one mechanism, and write its picture and its animation."""
    system, name = build(), build.__name__
    mbd.picture(system).save(generated / "figures" / f"gallery-{name}.png")
    (generated / "animations" / f"gallery-{name}.html").write_text(animation(shown(build)))
    bodies, rows, freedoms = counts(system)
    return PAGE.format(
        name=name,
        what=title(build),
        motion=motion(build),
        arguments=", ".join(f"{key}={value:g}" for key, value in numbers(name).items()),
        counts=f"| {bodies} | {rows} | {system.compile().redundancy.rank} | {freedoms} |",
        parts=returned(build),
        about=about(build),
        references=references(build),
        t_end=SHOWN[name],
        method=f"h={STEPPED[name]:g}, integrator=mbd.MoreauJean()" if name in STEPPED else f"rtol={RTOL:g}",
        file="/".join(build.__module__.split(".")) + ".py",
        builder=inspect.getsource(build),
    )


def shown(build: Builder) -> mbd.Result:
    """Return the motion that is shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        t_end = SHOWN[build.__name__]
        h = STEPPED.get(build.__name__)
        method: dict[str, Any] = {"rtol": RTOL} if h is None else {"h": h, "integrator": mbd.MoreauJean()}
        return mbd.simulate(shown_system(build), t_end, t_eval=np.linspace(0.0, t_end, FRAMES + 1), **method)


def motion(build: Builder) -> str:
    """Return what the animation shows."""
    name = build.__name__
    driven = "".join(f", {key} = {value:g}" for key, value in numbers(name).items())
    if name in DRIVEN and not driven:
        driven = f", driven: {', '.join(DRIVEN[name])}"
    method = f"MoreauJean, h = {STEPPED[name]:g} s" if name in STEPPED else f"DormandPrince, rtol = {RTOL:g}"
    return f"{SHOWN[name]:g} s by {method}{driven}. Click a body or a joint to see its curves."


def numbers(name: str) -> dict[str, float]:
    """Return the numbers with which a mechanism is built where it is shown."""
    return {key: value for key, value in DRIVEN.get(name, {}).items() if isinstance(value, float)}


def returned(build: Builder) -> str:
    """Return what the docstring says of the parts."""
    found = re.search(r"\nReturns\n-+\nSystem\n(.*?)(?:\n\n[A-Z]\w+\n-+\n|\Z)", inspect.getdoc(build) or "", flags=re.DOTALL)
    return " ".join(found[1].split()) if found else ""


def alone(build: Builder) -> bool:
    """Return whether the file has one builder only, so that its head and its reference values are those of this mechanism."""
    return sum(other.__module__ == build.__module__ for other in GALLERY) == 1


def about(build: Builder) -> str:
    """Return the mathematics and the source that the docstring of a builder or the head of its file gives."""
    head = inspect.cleandoc(sys.modules[build.__module__].__doc__ or "")
    own = re.search(r"Source: (.*?)(?:\n\n|\Z)", inspect.getdoc(build) or "", flags=re.DOTALL)
    source = own or re.search(r"Source: (.*?)(?:\n\n|\Z)", head, flags=re.DOTALL)
    text = formulas.markdown([line for line in head.splitlines() if line.startswith("    ")] if alone(build) else [])
    return text + (f"\nSource: {' '.join(source[1].split()).rstrip('.')}.\n" if source else "")


def references(build: Builder) -> str:
    """Return the table of the reference values, to which the tests hold the mechanism."""
    known = [
        one
        for key, value in vars(sys.modules[build.__module__]).items()
        for one in (value if isinstance(value, tuple) and not isinstance(value, Published) else (value,))
        if isinstance(one, Published) and (alone(build) or f"`{key}`" in (build.__doc__ or ""))
    ]
    if not known:
        return ""
    lines = [f"| {one.quantity} | {one.t:g} | {one.value:.12g} {one.unit} | {one.tol:.0e} | {one.source} |" for one in known]
    return REFERENCES.format(lines="\n".join(lines))
