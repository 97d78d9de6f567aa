"""The command `haugmbd`.

check        haugmbd check
crosscheck   haugmbd crosscheck
view         haugmbd view
warm         haugmbd warm
main         haugmbd demo, haugmbd info, --version
"""
