"""Pendulums, chains, tops, a net, a disc that rolls.

pendulum         a bar on a pin
double_pendulum  two bars
chain            a spatial chain of n links
free_body        dzhanibekov: a body that turns over; gyroscope: a rotor in two gimbals
heavy_top        a fast disc on a spherical joint
rolling_disc     a disc that rolls in a circle
net              balls on a grid of rods
"""
