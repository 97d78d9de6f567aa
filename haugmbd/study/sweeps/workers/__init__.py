"""Where cells run: this process, executors, worker processes.

executors       one cell after the other, or an executor of concurrent.futures
worker_process  what a worker process does
worker_pool     worker processes: failures, time-outs and killed workers are rows
interrupt       Ctrl-C
"""
