"""Integrators, and the stabilizations of explicit methods.

step_context          the interface of explicit integrators: routines, options, counters
step_batch            accepted states, returned in batches
dense_output          states between steps
state_space           the state of bodies as a vector that integrators advance
singularities         singular configurations: how a run finds them, and crosses them
watches               what compiled code looks at in every step: dependent rows, events
base                  base classes of integrators
default_number        default numbers, as distinct from given ones
events                events and their records
event_location        finding and locating events
leaps                 gaps that a step leaps over
stick_slip            events at which joints with friction stick and slip
initial_state         initial states: checked or projected
chain_state_space     serial chains as vectors that integrators advance, and their rates
stabilization         Baumgarte, projections
explicit              explicit methods
moreau_jean           Moreau-Jean: time stepping for contacts with friction, order 2 without
rattle                RATTLE: symplectic, order 2, positions and velocities on the constraints
hem4                  HEM4: half-explicit Runge-Kutta, order 4, velocities on the constraints
implicit              generalized-alpha, BDF, Radau IIA
"""

from haugmbd.names_on_demand import on_demand

__getattr__, __all__ = on_demand(__name__)  # noqa: PLE0605  a list of strings
