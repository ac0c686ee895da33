"""Ahead of time: a module as an object file, assembly or a shared library, with a C header."""
