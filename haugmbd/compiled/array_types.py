"""The types of the arrays that kernels take: C-contiguous float64 and int64."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]

Ints: TypeAlias = npt.NDArray[np.int64]
