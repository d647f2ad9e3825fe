"""The compiled round: rules and charts as arrays, lookup tables, kernels, luck adjustment."""
