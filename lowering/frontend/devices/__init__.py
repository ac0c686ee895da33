"""Which devices of several exchange what: process groups, shardings, and the call that does it."""
