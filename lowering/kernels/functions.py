"""The functions of kernels that a module needs, each once."""


class KernelFunctions:
    """The functions made so far; equal ones are one."""

    def __init__(self, taken: set[str]) -> None:
        self._names: dict[str, str] = {}
        self._taken = taken
        self.texts: list[str] = []

    def name_of(self, kind: str, text: str) -> str:
        """The name of the function whose text is `text` with @NAME for its name."""
        if text not in self._names:
            number = len(self._names)
            while f"{kind}_{number}" in self._taken:
                number += 1
            self._names[text] = name = f"{kind}_{number}"
            self._taken.add(name)
            self.texts.append(text.replace("@NAME(", f"@{name}(", 1))
        return self._names[text]
