"""The command `haugmbd`.

check        haugmbd check
crosscheck   haugmbd crosscheck
warm         haugmbd warm
main         haugmbd demo, haugmbd info, --version
"""
