"""Wheels with an engine: HAUGMBD_WHEEL_WITH_ENGINE=linux_x86_64 python -m build --wheel (after `make engine`), see docs/engine.md.

A wheel without the variable is for every system and needs Numba. One with it is for one system, contains the libraries for it and those for
WebAssembly, and needs no Numba.
"""

import json
import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

WISH = "HAUGMBD_WHEEL_WITH_ENGINE"
TAGS = {
    "linux_x86_64": "manylinux_2_17_x86_64",
    "linux_aarch64": "manylinux_2_17_aarch64",
    "windows_x86_64": "win_amd64",
    "macos_x86_64": "macosx_11_0_x86_64",
    "macos_arm64": "macosx_11_0_arm64",
}
"""The systems that have an engine, as libraries and as wheels name them."""


class Dependencies(MetadataHookInterface):
    """Numba, where no engine is in the wheel."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the dependencies."""
        compiler = [] if os.environ.get(WISH) else self.config["compiler"]
        metadata["dependencies"] = [*self.config["dependencies"], *compiler]


class WithEngine(BuildHookInterface):
    """The libraries, in a wheel that is asked for them."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the libraries for one system.  Raise RuntimeError if they were not built, or of other sources."""
        wish = os.environ.get(WISH, "")
        if not wish or self.target_name != "wheel" or version == "editable":
            return
        if wish not in TAGS:
            raise RuntimeError(f"{WISH}={wish}: give one of {', '.join(TAGS)}")
        root = Path(self.root)
        library = root / "haugmbd" / "engine" / "library"
        manifest = json.loads((library / "engine.json").read_text(encoding="utf-8"))
        wanted = [name for name in manifest["libraries"] if name.startswith((wish, "wasm32", "fmu_"))]
        if not any(name.startswith(wish) for name in wanted):
            raise RuntimeError(f"the engine for {wish} was not built: python -m haugmbd.engine_build.build {wish} wasm32")
        for name in (*wanted, "engine.json"):
            build_data["force_include"][str(library / name)] = f"haugmbd/engine/library/{name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{TAGS[wish]}"
