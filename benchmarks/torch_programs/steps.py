"""Steps of optimizers as programs: what they change is written in place."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value

from benchmarks.torch_programs.program import Made, Program, seeded


class Step(nn.Module):
    """A step of training a small network, gradients and all."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.model = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))
        self.model.requires_grad_(False)

    def gradients(self, x: Tensor, y: Tensor) -> tuple[dict[str, Tensor], Tensor]:
        """Of each parameter, and the loss."""

        def loss(parameters: dict[str, Tensor]) -> Tensor:
            return nn.functional.mse_loss(functional_call(self.model, parameters, (x,)), y)

        return grad_and_value(loss)(dict(self.model.named_parameters()))


class SGD(Step):
    """Without momentum."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """The loss before the step."""
        gradients, loss = self.gradients(x, y)
        for name, parameter in self.model.named_parameters():
            parameter.sub_(0.1 * gradients[name])
        return loss


class Adam(Step):
    """With the moments of gradients in buffers."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.register_buffer("count", torch.zeros(()))
        for name, parameter in self.model.named_parameters():
            for moment in ("first", "second"):
                self.register_buffer(_buffer(moment, name), torch.zeros_like(parameter))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """The loss before the step."""
        gradients, loss = self.gradients(x, y)
        count: Any = self.count
        count.add_(1)
        for name, parameter in self.model.named_parameters():
            gradient = gradients[name]
            first: Any = getattr(self, _buffer("first", name))
            second: Any = getattr(self, _buffer("second", name))
            first.mul_(0.9).add_(gradient, alpha=0.1)
            second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
            size = first / (1 - 0.9**count)
            parameter.sub_(0.001 * size / ((second / (1 - 0.999**count)).sqrt() + 1e-8))
        return loss


def _buffer(moment: str, name: str) -> str:
    return f"{moment}_{name.replace('.', '_')}"


def _step(kind: Any) -> Any:
    def make(is_tiny: bool) -> Made:
        width = 16 if is_tiny else 512
        return Made(kind(width), {"x": torch.randn(64, width), "y": torch.randn(64, width)})

    return seeded(make)


PROGRAMS = (Program("a step of SGD", _step(SGD)), Program("a step of Adam", _step(Adam)))
