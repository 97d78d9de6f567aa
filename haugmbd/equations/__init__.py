"""The equations of a model as formulas: SymPy objects, named like the model, derived from the equations that its joints declare.

symbols      names, symbols and numbers of bodies, vectors and functions
rows         Phi, Phi_q, nu and gamma of every kind of equation, by the chain rule from scalar products of vectors
loads        the generalized forces Q
planar       the plane of a planar mechanism, and the rows that fall away there
derivation   a joint's rows step by step
student      expressions of a student: read from text, compared, the first wrong term named
report       the page with MathML, and the TeX file
equations    `mbd.equations`
"""
