"""Forces of a fluid on a shape.

drag      resistance of a fluid against a shape
buoyancy  weight of the fluid that a shape displaces
"""
