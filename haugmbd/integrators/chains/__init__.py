"""Serial chains as vectors that integrators advance.

chain_rates        rates of a serial chain
chain_state_space  a serial chain as a vector that integrators advance
"""
