"""Radau IIA of order five.

radau_tableau   tableau of Radau IIA
radau_states    internal states in the three stages
radau_step_end  error and end of a step of Radau IIA
radau_stages    the three stages of Radau IIA
radau           Radau IIA of order five
"""
