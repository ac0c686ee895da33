"""The exceptions that the tools turn into `error: ...` and exit status 1."""


class Fp8Error(Exception):
    """Something the caller can mend: bad input, an op that cannot be compiled, a wrong argument.

    The message is one line that names the op or argument, its location, the reason and the way out.
    """


class InternalError(Fp8Error):
    """A fault of this project or of a library below, not of the caller: please report it.

    The message is one line, `internal error: STEP: REASON; reproducer written to FILE`, where
    `fp8-opt --run-reproducer FILE` runs what failed again. What was raised is the `__cause__`.
    """


class DetachedWarning(UserWarning):
    """A torch tensor that requires gradients was taken for its values: no result has gradients."""
