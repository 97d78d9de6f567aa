"""One mechanism with many methods: errors against one reference, violations, drifts and costs.

compare        the function compare
runs           methods that are run and what they cost, the reference, and what is measured
rows           the rows, and the printed table
comparison     the Comparison that users receive, also as an xarray Dataset
plots          columns over columns, and curves over time
report         the report in one HTML page
"""
