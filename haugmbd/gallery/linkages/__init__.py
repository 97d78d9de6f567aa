"""Linkages: loops of bars.

four_bar             a planar four-bar with independent rows
slider_crank         the spatial slider-crank
planar_slider_crank  a crank, a rod and a slider in a plane
andrews              Andrews' squeezing mechanism
windows              n four-bars in a row, through a singular configuration
spatial_loops        bennett, bricard and bricard_cube: loops that move because of their proportions
peaucellier          an exact straight line from seven bars
jansen_leg           Theo Jansen's leg
scissor_lift         crossed bars that lift a platform
hoberman_ring        a ring that opens and closes
universal_shaft      two shafts and a Hooke joint
"""
