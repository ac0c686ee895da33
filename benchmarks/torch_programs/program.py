"""What a program is: a model, its arguments, and labels where it is trained."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils import _pytree as pytree


@dataclass(frozen=True)
class Made:
    """A model and the keyword arguments of its forward."""

    model: torch.nn.Module
    inputs: dict[str, Any]
    labels: dict[str, Any] = field(default_factory=dict)
    """What the forward takes besides to give a loss; without any, the loss is a mean square."""


@dataclass(frozen=True)
class Program:
    """One of the table's rows, or two where it is trained as well."""

    name: str
    make: Callable[[bool], Made]
    """Makes it anew, with the same numbers; a small one of the same kind if the argument holds."""
    package: str = ""
    """What must be installed besides PyTorch."""
    trains: bool = False
    tolerance: float = 2e-5
    """Of the relative L2 to eager, of results and gradients."""


class Loss(torch.nn.Module):
    """A model that gives its loss alone."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, **inputs: Any) -> torch.Tensor:
        """The loss that the model computes of labels, or the mean square of its first result."""
        given = self.model(**inputs)
        loss = getattr(given, "loss", None)
        if loss is not None:
            return loss
        return pytree.tree_leaves(given)[0].float().square().mean()


def seeded(make: Callable[[bool], Made]) -> Callable[[bool], Made]:
    """Let `make` give the same numbers each time, and a model without dropout."""

    def made(is_tiny: bool) -> Made:
        torch.manual_seed(0)
        found = make(is_tiny)
        found.model.eval()
        return found

    return made
