"""The reference files of tests/reference."""

from tests.reference.conftest import parameters, table

__all__ = ["parameters", "table"]
