"""What exporters of all formats share.

export          the result of an export; faults of parts that a format cannot hold
exported_parts  the parts of a system that a file may hold
tree            a spanning tree of joints from the ground
couplings       couplings that are constant in time
springs         springs of joints, and loads of joints that are cut
limits          limits of joints
drawn           shapes of bodies
"""

from haugmbd.modelfile.exports.export import Export

__all__ = ["Export"]
