"""Derivatives of motions, reactions and frequencies by parameters of a design."""
