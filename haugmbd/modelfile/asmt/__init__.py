"""ASMT, the text format of the assembly solver of FreeCAD (OndselSolver).

records          the tree of a text with tabs
assembly         parts, markers, joints and motions as data
formulas         motions as expressions
joints           joints between two markers
couplings        gears, racks and screws
general          motions of six coordinates, and forces along a line
limits           limits of joints
contradictions   directions that contradict the other joints at the pose of the file
mechanism        from an assembly to a System
read             read_asmt
write_couplings  couplings as gears, racks and screws, for write_asmt
write            write_asmt
"""

from haugmbd.modelfile.asmt.read import read_asmt
from haugmbd.modelfile.asmt.write import write_asmt

__all__ = ["read_asmt", "write_asmt"]
