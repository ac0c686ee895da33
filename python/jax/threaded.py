"""The state of delayed scaling, carried for the caller."""

from typing import Any

from mlir_fp8.base.errors import Fp8Error


class Threaded:
    """A quantized step with its state: `step(*args)` gives the results alone.

    `step` is what `mlir_fp8.jax.jit` made with a recipe that has a state. `state` is that of before
    the next call, None before the first one; set it to continue from a checkpoint. Not for use
    inside of other transformations, nor from several threads: there carry the state yourself.
    """

    def __init__(self, step: Any, state: Any = None) -> None:
        if not hasattr(step, "init_state"):
            raise Fp8Error("step has no state: give what mlir_fp8.jax.jit makes, with a recipe")
        self._step = step
        self.state = state

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.state is None:
            self.state = self._step.init_state(*args, **kwargs)
        results, self.state = self._step(self.state, *args, **kwargs)
        return results
