"""Networks in PyTorch alone, as they are written everywhere."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as f

from benchmarks.torch_programs.program import Made, Program, seeded


class Residual(nn.Module):
    """A block of ResNet."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(outer) for _ in range(3))
        self.past = nn.Conv2d(inner, outer, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[n, inner, h, w] to [n, outer, h / stride, w / stride]."""
        y = f.relu(self.norms[0](self.first(x)))
        return f.relu(self.norms[1](self.second(y)) + self.norms[2](self.past(x)))


def _resnet(is_tiny: bool) -> Made:
    width, size = (8, 32) if is_tiny else (64, 224)
    model = nn.Sequential(
        nn.Conv2d(3, width, 7, 2, 3, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
        Residual(width, width, 1),
        Residual(width, 2 * width, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * width, 10),
    )
    return Made(model, {"input": torch.randn(1, 3, size, size)})


class MixerBlock(nn.Module):
    """Linear layers along patches, then along channels."""

    def __init__(self, patches: int, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.along_patches = _two_layers(patches, patches * 2)
        self.along_channels = _two_layers(width, width * 4)

    def forward(self, x: Tensor) -> Tensor:
        """[n, patches, width] to the same."""
        x = x + self.along_patches(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.along_channels(self.norms[1](x))


def _two_layers(width: int, inner: int) -> nn.Module:
    return nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))


def _mixer(is_tiny: bool) -> Made:
    patches, width = (8, 16) if is_tiny else (196, 512)
    model = nn.Sequential(*(MixerBlock(patches, width) for _ in range(2)))
    return Made(model, {"input": torch.randn(1, patches, width)})


class UNet(nn.Module):
    """Down, up by interpolation, and across."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.Conv2d(width, 2 * width, 3, 2, 1)
        self.middle = nn.Conv2d(2 * width, 2 * width, 3, padding=1)
        self.norm = nn.GroupNorm(4, 2 * width)
        self.up = nn.Conv2d(2 * width, width, 3, padding=1)
        self.leave = nn.Conv2d(2 * width, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """[n, 3, h, w] to the same."""
        wide = f.silu(self.enter(x))
        deep = f.silu(self.norm(self.middle(f.silu(self.down(wide)))))
        up = self.up(f.interpolate(deep, scale_factor=2, mode="nearest"))
        smooth = f.interpolate(deep, scale_factor=2, mode="bilinear").mean(1, keepdim=True)
        return self.leave(torch.cat([wide, up + smooth], 1))


def _unet(is_tiny: bool) -> Made:
    width, size = (8, 16) if is_tiny else (64, 64)
    return Made(UNet(width), {"x": torch.randn(1, 3, size, size)})


class Recurrent(nn.Module):
    """What a recurrent layer gives, without its last state."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        """[n, steps, inner] to [n, steps, outer]."""
        return self.layer(x)[0]


def _recurrent(kind: Any) -> Any:
    def make(is_tiny: bool) -> Made:
        width, steps = (16, 4) if is_tiny else (256, 16)
        layer = kind(width, width, num_layers=2, batch_first=True)
        return Made(Recurrent(layer), {"x": torch.randn(4, steps, width)})

    return seeded(make)


class DiTBlock(nn.Module):
    """A block of a diffusion transformer: shifts, scales and gates come of the time."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width, elementwise_affine=False, eps=1e-6)
        self.modulation = nn.Linear(width, 6 * width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """[n, patches, width] and [n, width] to [n, patches, width]."""
        parts = self.modulation(f.silu(time)).unsqueeze(1).chunk(6, -1)
        shift, scale, gate, shift_mlp, scale_mlp, gate_mlp = parts
        x = x + gate * self._attention(self.norm(x) * (1 + scale) + shift)
        return x + gate_mlp * self.mlp(self.norm(x) * (1 + scale_mlp) + shift_mlp)

    def _attention(self, x: Tensor) -> Tensor:
        rows, patches, width = x.shape
        split = self.qkv(x).view(rows, patches, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        mixed = f.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(rows, patches, width))


def _dit(is_tiny: bool) -> Made:
    width, heads, patches = (32, 4, 8) if is_tiny else (768, 12, 256)
    inputs = {"x": torch.randn(1, patches, width), "time": torch.randn(1, width)}
    return Made(DiTBlock(width, heads), inputs)


class VAE(nn.Module):
    """Convolutions to a mean and a variance, and transposed ones back; the noise is given."""

    def __init__(self, width: int, latent: int) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 4, 2, 1), nn.ReLU(), nn.Conv2d(width, 2 * latent, 4, 2, 1)
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(latent, width, 4, 2, 1),
            nn.ReLU(),
            nn.ConvTranspose2d(width, 1, 4, 2, 1),
        )

    def forward(self, x: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """The evidence bound of [n, 1, h, w], and what is made of it."""
        mean, log_variance = self.encoder(x).chunk(2, 1)
        again = self.decoder(mean + noise * torch.exp(0.5 * log_variance))
        divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum()
        loss = f.binary_cross_entropy_with_logits(again, x.sigmoid(), reduction="sum")
        return loss + divergence, again


def _vae(is_tiny: bool) -> Made:
    width, latent, size = (8, 4, 8) if is_tiny else (64, 16, 32)
    noise = torch.randn(4, latent, size // 4, size // 4)
    return Made(VAE(width, latent), {"x": torch.randn(4, 1, size, size), "noise": noise})


class SkipGram(nn.Module):
    """Words by the bags of words around them, with negative samples."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.bags = nn.EmbeddingBag(words, width, mode="mean")
        self.words = nn.Embedding(words, width)

    def forward(self, around: Tensor, word: Tensor, others: Tensor) -> Tensor:
        """The loss of [n, around] about [n] and not [n, others]."""
        bag = self.bags(around)
        near = (bag * self.words(word)).sum(-1)
        far = torch.einsum("nd,nkd->nk", bag, self.words(others))
        return -(f.logsigmoid(near).mean() + f.logsigmoid(-far).sum(-1).mean())


def _skip_gram(is_tiny: bool) -> Made:
    words, width, rows = (50, 8, 4) if is_tiny else (20000, 128, 256)
    inputs = {
        name: torch.randint(0, words, shape)
        for name, shape in (("around", (rows, 6)), ("word", (rows,)), ("others", (rows, 5)))
    }
    return Made(SkipGram(words, width), inputs)


PROGRAMS = (
    Program("ResNet, 2 blocks", seeded(_resnet), trains=True),
    Program("MLP-Mixer", seeded(_mixer), trains=True),
    Program("U-Net", seeded(_unet), trains=True),
    Program("LSTM", _recurrent(nn.LSTM), trains=True),
    Program("GRU", _recurrent(nn.GRU), trains=True),
    Program("DiT block", seeded(_dit), trains=True),
    Program("VAE", seeded(_vae), trains=True),
    Program("skip-gram", seeded(_skip_gram), trains=True),
)
