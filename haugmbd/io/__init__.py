"""Files in and out; what needs an extra says so when it is used."""
