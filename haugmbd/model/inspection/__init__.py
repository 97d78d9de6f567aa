"""What is read from a compiled model.

given            the model of a call, compiled if a System was given
constraint_rows  Rows: Phi, nu, gamma and the Jacobian
joint_subspaces  motion subspace and constraint wrenches of a joint
identity         whether a body or joint belongs to a model
points           points by the names of bodies, joints and force elements
row_gaps         the largest gap of the rows that were evaluated last
length           the characteristic length, by which absolute tolerances are measured
pressed_stops    how stops of joint coordinates are pressed, and which push
run_memory       what only a run knows: rigid stops, touch speeds, held values, delays
driver_breaks    jumps and kinks of drivers between two times, and driven lengths that reach zero
"""
