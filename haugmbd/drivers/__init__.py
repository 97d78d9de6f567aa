"""Prescribed functions of time with exact first and second derivatives: what drives joints and actuators."""

from haugmbd.drivers.driver import Constant, Driver, Unusable
from haugmbd.drivers.functions import Functions, TimeFunction
from haugmbd.drivers.jet import Jet
from haugmbd.drivers.spline import QuinticSpline
from haugmbd.drivers.tables import DriverTables, as_driver, call_python_drivers, compile_drivers, evaluate_drivers

__all__ = [
    "Constant",
    "Driver",
    "DriverTables",
    "Functions",
    "Jet",
    "QuinticSpline",
    "TimeFunction",
    "Unusable",
    "as_driver",
    "call_python_drivers",
    "compile_drivers",
    "evaluate_drivers",
]
