"""The command `haugmbd`.

check        haugmbd check
compare      haugmbd compare
crosscheck   haugmbd crosscheck
view         haugmbd view
warm         haugmbd warm
main         haugmbd demo, haugmbd info, --version
"""
