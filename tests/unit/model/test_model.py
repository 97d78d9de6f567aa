"""Model: what it says of itself."""

from __future__ import annotations

from haugmbd.gallery import double_pendulum


def test_a_model_is_shown_in_one_line():
    model = double_pendulum().compile()
    assert repr(model) == f"Model({model.name!r}: 2 bodies, 2 joints, {model.nc} rows, 0 loads)"
