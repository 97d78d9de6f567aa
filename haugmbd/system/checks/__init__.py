"""What is checked before a system is compiled, and the faults that are found.

constraint_residuals  whether a state satisfies its joints, in metres and degrees
contradictions        redundant rows that contradict each other: by how much, and whether a motion keeps them there
function_ranges       motions that leave the table of a function of a joint coordinate
known_turns           angles whose integrated turns have left the orientation of the bodies
solvability           whether accelerations and multipliers have one solution
friction_uniqueness   friction in joints whose reactions are not unique
locking               systems that cannot move, and the misalignment that locks them
validation            all faults of a system at once
"""
