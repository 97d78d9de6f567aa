"""One ruler for all results: everything here is recomputed from stored states, whichever method produced them."""
