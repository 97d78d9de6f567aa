"""Numbers that nobody has given."""


class Unsaid(float):
    """A number that nobody has given: the default of a method, which what is said elsewhere replaces.

    An absolute tolerance of this kind is measured by the characteristic length of the model; one that is given is in metres.
    """
