"""Force elements, drivers, bodies, blocks and contacts over time.

load_history     length, rate, force, power and energy of force elements over time
block_history    states and outputs of blocks over time
driver_history   torque, force, power and work of drivers over time
body_history     one body and its points over time
contact_impacts  impacts of compliant contacts, from touch to release
"""
