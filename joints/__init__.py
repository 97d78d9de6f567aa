"""The catalogue of joints: each joint is a tuple of primitives, in a short file that reads as a sentence."""
