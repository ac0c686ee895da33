"""Reading modules: files, bytes and text of every kind, MHLO and HLO through jaxlib."""
