"""Arrays at the API boundary: their types, addresses, scalars, and values block by block."""
