"""What importers of all formats share, and the importer of simEngine3D's models.

report        what an import did
transform     poses, nearest rotations
masses        inertia for bodies without mass; masses that are doubtful
closing       joints closed by assemble
limits        limits of joints as stops
prescribed    f(t) of an equation of simEngine3D
simengine3d   read_simengine3d
"""

from haugmbd.modelfile.imports.report import ImportReport
from haugmbd.modelfile.imports.simengine3d import read_simengine3d

__all__ = ["ImportReport", "read_simengine3d"]
