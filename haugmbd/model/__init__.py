"""The compiled model: frozen tables, and their evaluation at a state.

immutable            frozen classes, and values computed once for each model
state                State: time, poses, velocities
inspection           what is read from a compiled model
labels               names of the rows and joints
explanation          equations of a model as text
dependent_rows       Redundancy: dependent rows, as data
compiling            from objects to tables
generalized_forces   forces at one instant
evaluate             rows and forces evaluated from Python
model                Model
step_solver          the solver of implicit steps, where tangents of forces join the matrix
drivers_alone        rows evaluated without forces
views                pictures and animations of a model, drawn by the viewer
pickling             systems and models in other processes
memory               the memory that a model needs, estimated before its arrays are made
"""
