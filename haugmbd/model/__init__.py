"""The compiled mechanism: frozen tables, and their evaluation at a state.

immutable            frozen classes
state                State: time, poses, velocities
identity             whether two models are the same
labels               what rows and joints are called
dependent_rows       which rows depend on others, as data
compile              from objects to tables
body_kinematics      rotation matrices, points and vectors, drivers at one instant
generalized_forces   forces at one instant
evaluate             rows and forces evaluated from Python
explanation          equations as text
model                Model
views                pictures and animations of a model, asked from the viewer
constraint_rows      Rows: Phi, nu, gamma and the Jacobian
given                the model that a call was given, compiled if need be
joint_subspaces      what a joint allows and what it opposes
driver_breaks        jumps and kinks of drivers between two times
pickling             systems and models in other processes
energy_balance       energy by force element
"""
