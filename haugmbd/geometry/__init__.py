"""Contact geometry of bodies: which points of two shapes touch, how far they are apart, and how fast.

tables         the shapes of a model as tables of features: vertices, edges, faces, rims
polytope       corners, edges and flat faces of boxes and convex meshes
features       gap, normal and nearest points of a pair of features, and their rates
polytopes      which features of two polytopes touch: separating axes and crossings
manifold       which features of two shapes touch
broad_phase    which shapes may touch at all: sweep and prune
narrow_phase   pairs that exist, and the entries from Python
"""
