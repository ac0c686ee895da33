"""The one exception that the tools turn into `error: ...` and exit status 1."""


class Fp8Error(Exception):
    """Something the caller can mend: bad input, an op that cannot be compiled, a wrong argument.

    The message is one line that names the op or argument, its location, the reason and the way out.
    """
