"""Friction in joints.

friction_laws   friction over sliding speed
joint_friction  friction in a joint, by what it carries
"""
