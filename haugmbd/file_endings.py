"""Endings of the files that are read and written. Nothing else is imported here, so that the command line knows them at once."""

JSON, TOML = ".json", ".toml"
SUFFIXES = (JSON, TOML)
"""Of model files."""
URDF, XACRO, ASMT, SIMENGINE3D, GLB = ".urdf", ".xacro", ".asmt", ".mdl", ".glb"
MJCF = (".xml", ".mjcf")
PYTHON = ".py"
"""The only ending of files that are executed."""
FORMATS = (*SUFFIXES, URDF, XACRO, *MJCF, ASMT, SIMENGINE3D)
"""Of files that are models; a .json may be one of simEngine3D, too."""
EXPORTS = (JSON, URDF, ".xml", ASMT, GLB)
"""Of files that a model is converted to."""
PAGES = (".html", ".htm")
"""Of pages for a browser."""
PLOTS = (".png", ".pdf", ".svg", ".eps", ".ps", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
"""Of plots."""
