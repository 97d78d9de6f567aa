"""What can be asked of a mechanism without simulating it: assembly, branches, kinematics, inverse dynamics."""

from haugmbd.analysis.assembly import assemble
from haugmbd.analysis.branches import Branch, branches
from haugmbd.analysis.found import Assembly, Correction, Flip, JointGap
from haugmbd.analysis.hold import Hold

__all__ = ["Assembly", "Branch", "Correction", "Flip", "Hold", "JointGap", "assemble", "branches"]
