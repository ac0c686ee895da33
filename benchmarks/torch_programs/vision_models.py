"""Models of pictures and sound, from their published configurations cut to two layers."""

from typing import Any

import torch

from benchmarks.torch_programs.hugging_face import LAYERS, of_config, tokens
from benchmarks.torch_programs.program import Made, Program, seeded

VIT = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 12,
    "image_size": 224,
    "patch_size": 16,
}
TINY_VIT = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_attention_heads": 4,
    "image_size": 32,
    "patch_size": 16,
}
CLIP_TEXT = {
    "hidden_size": 512,
    "intermediate_size": 2048,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 8,
    "vocab_size": 49408,
}
SWIN = {"embed_dim": 96, "depths": [1, 1], "num_heads": [3, 6], "window_size": 7}
WHISPER = {
    "d_model": 512,
    "encoder_layers": LAYERS,
    "encoder_attention_heads": 8,
    "encoder_ffn_dim": 2048,
    "decoder_layers": 0,
    "decoder_attention_heads": 8,
    "num_mel_bins": 80,
}


def _pictures(values: dict[str, Any]) -> torch.Tensor:
    return torch.randn(1, 3, values["image_size"], values["image_size"])


def _vit(is_tiny: bool) -> Made:
    values = {**VIT, **(TINY_VIT if is_tiny else {})}
    model = of_config("ViTForImageClassification", "ViTConfig", num_labels=10, **values)
    return Made(model, {"pixel_values": _pictures(values)}, {"labels": torch.tensor([3])})


def _clip(is_tiny: bool) -> Made:
    text = {**CLIP_TEXT, "eos_token_id": 95 if is_tiny else 49407}
    vision = {**VIT, "patch_size": 32}
    if is_tiny:
        small = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4}
        text |= {**small, "vocab_size": 96}
        vision |= TINY_VIT
    model = of_config("CLIPModel", "CLIPConfig", text_config=text, vision_config=vision)
    ids = tokens(1, 16, text["vocab_size"])
    ids[:, -1] = text["eos_token_id"]
    return Made(model, {"input_ids": ids, "pixel_values": _pictures(vision)})


def _swin(is_tiny: bool) -> Made:
    tiny = {"image_size": 32, "patch_size": 2, "embed_dim": 16, "num_heads": [2, 4],
            "window_size": 4}  # fmt: skip
    values = {**SWIN, "image_size": 224, **(tiny if is_tiny else {})}
    model = of_config("SwinForImageClassification", "SwinConfig", num_labels=10, **values)
    return Made(model, {"pixel_values": _pictures(values)}, {"labels": torch.tensor([3])})


def _whisper(is_tiny: bool) -> Made:
    """The encoder, for half of its 30 seconds."""
    tiny = {"d_model": 32, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
            "encoder_ffn_dim": 48}  # fmt: skip
    values = {**WHISPER, **(tiny if is_tiny else {})}
    values["max_source_positions"] = 16 if is_tiny else 750
    model: Any = of_config("WhisperModel", "WhisperConfig", **values)
    encoder = model.get_encoder()
    sound = torch.randn(1, values["num_mel_bins"], 2 * values["max_source_positions"])
    return Made(encoder, {"input_features": sound})


PROGRAMS = (
    Program("ViT base, patches of 16", seeded(_vit), "transformers", trains=True),
    Program("CLIP ViT base, patches of 32", seeded(_clip), "transformers"),
    Program("Swin tiny, 2 of 4 stages", seeded(_swin), "transformers", trains=True),
    Program("Whisper base, encoder", seeded(_whisper), "transformers"),
)
