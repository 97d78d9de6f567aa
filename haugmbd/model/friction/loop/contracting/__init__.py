"""The iteration for friction where the loop contracts.

contraction  a cheap proof that the friction is unique
anderson     the step of the iteration, and when it is done
fixed_point  the iteration with solutions of the factored system
"""
