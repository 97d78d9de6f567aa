"""Forces and torques in joints.

joint_wrench         a wrench at the point of a joint
reaction_uniqueness  unique components of reactions, from self-stresses
tooth_forces         reactions of gears and of their bearings with tooth forces
reactions            joint reactions
"""
