"""Assembly from far: rows measured by the turn that is missing, a search that is globalized, and the nearest of the closed poses.

geodesic_rows      rows in rotation vectors, angles and lengths: no false stationary point at 90 and 180 degrees
pose_search        Levenberg-Marquardt on these rows
tree_starts        other starts, with the joints of a tree moved at random
nearest_pose       the closed pose nearest to the start, along the closed ones
closing            the closed pose nearest to any start, by all of these
"""
