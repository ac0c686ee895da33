"""Python's bytecode for processes that are measured."""


def kept_in(folder: str) -> dict[str, str]:
    """Variables by which new processes keep the bytecode of what they import in `folder`.

    Who installs a library has its bytecode: Python compiles it once, not in each process, as it
    does where PYTHONDONTWRITEBYTECODE is set.
    """
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
