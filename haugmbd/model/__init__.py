"""The compiled model: frozen tables, and their evaluation at a state.

immutable            frozen classes
state                State: time, poses, velocities
identity             whether a body or joint belongs to a model
labels               names of rows and joints
remembered           what follows from a model alone, worked out once
dependent_rows       Redundancy: dependent rows, as data
compiling            from objects to tables
body_kinematics      rotation matrices, points and vectors, drivers at one instant
internal_states      states of force elements and blocks, explicit and implicit
generalized_forces   forces at one instant
friction             friction in joints, solved together with the multipliers
evaluate             rows and forces evaluated from Python
explanation          equations as text
model                Model
views                pictures and animations of a model, drawn by the viewer
constraint_rows      Rows: Phi, nu, gamma and the Jacobian
given                the model of a call, compiled if a System was given
joint_subspaces      motion subspace and constraint wrenches of a joint
driver_breaks        jumps and kinks of drivers between two times
points               points by the names of bodies, joints and force elements
pickling             systems and models in other processes
energy_balance       energy by force element
memory               the memory that a model needs, estimated before its arrays are made
length               the characteristic length, by which absolute tolerances are measured
"""
