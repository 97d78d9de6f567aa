"""Results on disk.

checksums   a seal and checksums of files
atomic      files that are whole or not there
schema      what variables and metadata of a file are
results     save, to_csv
"""
