"""Parts of a model file that have kinds of their own.

functions    functions of time and of the state as values of a file
blocks       controllers and delays
shapes       what is drawn of bodies
equations    a joint that is given by its equations
joint_loads  forces along joint coordinates
"""
