"""Default numbers of methods, which can be told from numbers that the user gave."""


class DefaultNumber(float):
    """A default of a method. A value given to `simulate` replaces it; it never conflicts with one.

    An absolute tolerance of this kind is measured by the characteristic length of the model; one that is given is in metres.
    """
