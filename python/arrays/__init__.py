"""Arrays at the door: their types, addresses, scalars, and values block by block."""
