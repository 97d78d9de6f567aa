"""The command `haugmbd`.

answers         exit codes, JSON, advice in the words of the command line
parser          every command and its options; nothing of the engine is imported
model_argument  MODEL: a model file, a Python file, or a name of the gallery
commands        what the commands do, one file each
completion      haugmbd completion: scripts for shells, made from the parser
main            which command is run
"""
