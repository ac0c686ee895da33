"""Steps of optimizers as programs: what they change is written in place."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value
from torch.fx.experimental.proxy_tensor import make_fx

from benchmarks.torch_programs.program import Made, Program, seeded


class Step(nn.Module):
    """A step of training a small network, gradients and all."""

    def __init__(self, width: int, rows: int) -> None:
        super().__init__()
        self.model = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width))
        self.model.requires_grad_(False)

        def loss(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
            return nn.functional.mse_loss(functional_call(self.model, parameters, (x,)), y)

        example = torch.zeros(rows, width)
        parameters = dict(self.model.named_parameters())
        self.gradients: Any = make_fx(grad_and_value(loss))(parameters, example, example)

    def of_loss(self, x: Tensor, y: Tensor) -> tuple[dict[str, Tensor], Tensor]:
        """The gradient of each parameter, and the loss."""
        return self.gradients(dict(self.model.named_parameters()), x, y)


class SGD(Step):
    """Without momentum."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """The loss before the step."""
        gradients, loss = self.of_loss(x, y)
        for name, parameter in self.model.named_parameters():
            parameter.sub_(0.1 * gradients[name])
        return loss


class Adam(Step):
    """With the moments of gradients in buffers."""

    def __init__(self, width: int, rows: int) -> None:
        super().__init__(width, rows)
        self.register_buffer("count", torch.zeros(()))
        for name, parameter in self.model.named_parameters():
            for moment in ("first", "second"):
                self.register_buffer(_buffer(moment, name), torch.zeros_like(parameter))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """The loss before the step."""
        gradients, loss = self.of_loss(x, y)
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
        width, rows = (16, 8) if is_tiny else (512, 64)
        x, y = torch.randn(rows, width), torch.randn(rows, width)
        return Made(kind(width, rows), {"x": x, "y": y})

    return seeded(make)


PROGRAMS = (Program("a step of SGD", _step(SGD)), Program("a step of Adam", _step(Adam)))
