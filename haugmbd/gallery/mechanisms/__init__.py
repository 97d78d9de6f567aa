"""One file a mechanism or a family."""
