"""Model files: systems as JSON and TOML; nothing of a file is executed.

reading     what is collected while a file is read: faults with their paths
values      kinds of values, which read themselves and describe themselves as JSON Schema
parts       parts of a model file that have kinds of their own
schema      the table of all parts and their keys
text        bounded reading of JSON and TOML; the line of every path
xml_reader  a bounded reader of XML without document types and entities
write       from a System to a document
build       from a document to a System
moved       the document of a system at another pose
files       load_model, save_model
imports     what importers share
exports     what exporters share
simengine3d models of simEngine3D
urdf        robot files of ROS, with closed loops
asmt        assemblies of FreeCAD
mjcf        models of MuJoCo
engines     the same accelerations by another engine
"""

from haugmbd.modelfile.files import at_state, load_model, model_document, save_model, system_of_document
from haugmbd.modelfile.schema import json_schema

__all__ = ["at_state", "json_schema", "load_model", "model_document", "save_model", "system_of_document"]
