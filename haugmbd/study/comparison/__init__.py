"""One mechanism with many methods: errors against one reference, violations, drifts and costs.

compare        the function compare
cell           one method that is run, and what it cost
reference      the reference at two tolerances
measures       what is measured of each method
rows           the rows, and the printed table
comparison     the Comparison that users receive
data           as an xarray Dataset
plots          columns over columns, and curves over time
report         the report in one HTML page
report_page    style and script of that page
"""
