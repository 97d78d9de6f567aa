"""Friction in joints.

friction_laws   friction over sliding speed
bristle_range   the range of bristles of LuGre's law, for diagnostics
joint_friction  friction in a joint, by what it carries
"""
