"""The command `haugmbd`.

model_argument  MODEL: a model file, a Python file, or a name of the gallery; exit codes
commands        the commands, one file each
completion      haugmbd completion: scripts for shells, made from the parser
main            haugmbd demo, --version, and the parser of all commands
"""
