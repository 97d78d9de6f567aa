r"""The angle of a point in the plane, for use inside kernels: `math.atan2`, but without a call.

    t = min(|x|, |y|) / max(|x|, |y|)                 arctan t = pi / 4 + arctan (t - 1) / (t + 1)           if t > tan pi / 8
    arctan t = t + t^3 p(t^2)                         |t| <= tan pi / 8

p is the polynomial of degree 10 with the least relative error of arctan t, 1.3e-18 before rounding, found by Remez' algorithm.
Source: Muller (2016), Elementary Functions, ch. 3 and 11.
"""

from __future__ import annotations

from math import pi

from haugmbd.compiled.jit import inlined_kernel

TAN_PI_8 = 0.41421356237309503


@inlined_kernel
def arctan2(y: float, x: float) -> float:
    """Return the angle of the point (x, y) from the x axis, in [-pi, pi]; NaN for the origin."""
    a, b = abs(x), abs(y)
    large, small = (a, b) if a > b else (b, a)  # NaN stays NaN
    beyond = small > TAN_PI_8 * large
    t = (small - large if beyond else small) / (small + large if beyond else large)
    z = t * t
    p = 0.03806212010644268 - 0.01790501824304379 * z
    p = -0.05039189636675225 + p * z
    p = 0.0584785909755801 + p * z
    p = -0.06663099179933163 + p * z
    p = 0.07692059715425503 + p * z
    p = -0.0909089772515136 + p * z
    p = 0.11111110782152478 + p * z
    p = -0.14285714280166556 + p * z
    p = 0.1999999999995325 + p * z
    p = -0.333333333333332 + p * z
    angle = (0.25 * pi if beyond else 0.0) + (t + t * (z * p))
    angle = 0.5 * pi - angle if b > a else angle
    angle = pi - angle if x < 0.0 else angle
    return -angle if y < 0.0 else angle
