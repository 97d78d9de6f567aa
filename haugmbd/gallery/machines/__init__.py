"""Machines with drives, gears, cams, springs and platforms.

governor          a flyball governor
indexing_cam      a cam that moves a turret on, station by station
planetary_gear    a sun, planets and a ring
differential      two wheels that share a torque
piston_engine     crank, rod, piston and gas
double_wishbone   the suspension of a wheel
stewart_platform  six legs that carry a plate
delta_robot       three arms and a plate that stays level
excavator         boom, stick and bucket on hydraulic cylinders
bouncing_toy      a head on a spring over a foot
trebuchet         a beam, a counterweight and a sling
"""
