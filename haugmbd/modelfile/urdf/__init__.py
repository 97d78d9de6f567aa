"""URDF, the robot files of ROS, with closed loops in three conventions.

unread       what is not read inside of links and joints, such as misspelt elements
robot        links, joints and loops of a URDF as data
visual       visual geometry as shapes
sidecar      loops in a sidecar file (Extended URDF)
tree         poses of links, merged links and their inertia
mechanism    from a robot to a System
read         read_urdf
followers    couplings as mimic, for write_urdf
write_visual shapes as visuals, for write_urdf
write        write_urdf
"""

from haugmbd.modelfile.urdf.read import read_urdf
from haugmbd.modelfile.urdf.write import write_urdf

__all__ = ["read_urdf", "write_urdf"]
