"""Names and equations of a model as text.

labels       names of rows and joints
explanation  equations as text
"""
