"""Results on disk.

checksums      a seal and checksums of files
paths          paths that are given, and the error of a file that cannot be written
atomic         files that are whole or not there
laws           drivers, functions and blocks by which a model is recognized
schema         what variables and metadata of a file are
carried_model  the model in a file
results        save, to_csv
chain_file     motions in joint coordinates
"""
