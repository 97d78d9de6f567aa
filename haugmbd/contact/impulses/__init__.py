"""Impulses: velocities just after a blow, a contact or a closing joint.

applied_impulse    impulses from outside
joint_closure      joints that close suddenly
impulse_arguments  reading the arguments of `impulse`
spectral_solve     semi-definite systems with dependent rows
impulse_result     the result of an impulse
impulse_equations  the augmented system, solved for impulses
plain_impulse      an impulse without contacts: one compiled call
restitution        Newton's law at several contacts
struck_chains      contacts that are struck through closed ones
auxiliary_rows     rows of contacts and closing joints in addition to those of the model
impulse            impulse: velocities just after an impulse
"""
