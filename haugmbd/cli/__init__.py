"""The command `haugmbd`.

model_argument   MODEL: a model file, a Python file, or a name of the gallery; exit codes
run              haugmbd run
check            haugmbd check
assemble         haugmbd assemble
convert          haugmbd convert
info             haugmbd info
compare          haugmbd compare
sweep            haugmbd sweep
crosscheck       haugmbd crosscheck
view             haugmbd view
warm             haugmbd warm
completion       haugmbd completion
main             haugmbd demo, --version, and the parser of all commands
"""
