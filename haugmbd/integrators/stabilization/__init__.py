"""What keeps a motion on its constraints.

base                    what every stabilization is
none                    nothing: the constraints drift
baumgarte               feedback of position and velocity errors
projection              projection in the mass metric
unweighted_projection   projection by the least motion in space
energy_projection       projection that keeps the energy
"""
