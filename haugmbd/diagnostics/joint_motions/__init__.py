"""Coordinates of joints over time.

joint_motion      frames, points and coordinates of a joint at stored states
turns             whole turns of joint angles
joint_history     angles and displacements of joints over time
joint_coordinate  one coordinate of a joint as a function of the state, for events and sensors
"""
