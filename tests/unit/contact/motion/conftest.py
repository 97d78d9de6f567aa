"""Bodies that fall."""

from __future__ import annotations
