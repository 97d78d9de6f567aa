"""The command `haugmbd`.

parser          every command and its options; nothing of the engine is imported
model_argument  MODEL: a model file, a Python file, or a name of the gallery
answers         exit codes, JSON, advice in the words of the command line
completion      haugmbd completion: scripts for shells, made from the parser
models          check, assemble, convert, info
run             run
studies         compare, sweep
shown           demo, gallery, labs, view
crosscheck      crosscheck
warm            warm
main            which command is run
"""
