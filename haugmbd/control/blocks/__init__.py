"""Ready-made blocks.

low_pass           LowPass
transfer_function  TransferFunction
pid                PID
delay_line         DelayLine
"""
