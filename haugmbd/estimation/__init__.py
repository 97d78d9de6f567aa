"""Parameters from data: fits, their errors, and what data can tell apart."""
