"""The commands, one file each.

demo        haugmbd demo
run         haugmbd run
check       haugmbd check
assemble    haugmbd assemble
convert     haugmbd convert
info        haugmbd info
gallery     haugmbd gallery
compare     haugmbd compare
sweep       haugmbd sweep
crosscheck  haugmbd crosscheck
view        haugmbd view
warm        haugmbd warm
"""
