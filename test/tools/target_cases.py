"""Fused ops, devices, and what each target refuses: the cases of test_explain_targets.py."""

from mlir_fp8.lowering.fp8.scaled_dot.device import Device

E4M3 = {"a": "64x128xf8E4M3FN", "b": "32x128xf8E4M3FN"}
SCALES = {"a_scale": "f32", "b_scale": "f32"}
SCALED = E4M3 | SCALES
F32, BF16, F16 = "64x32xf32", "64x32xbf16", "64x32xf16"
Q = "64x32xf8E4M3FN"
IN_F32 = "operand_type = f32"
IN_BF16 = "operand_type = bf16, dot_type = bf16"
IN_F16 = "operand_type = f16, dot_type = f16"
ROWS = E4M3 | {"a_scale": "64x1xf32", "b_scale": "32x1xf32"}
MX = E4M3 | {"a_scale": "64x4xf8E8M0FNU", "b_scale": "32x4xf8E8M0FNU"}
NVFP4 = {
    "a": "64x128xf4E2M1FN", "b": "32x128xf4E2M1FN",
    "a_scale": "64x8xf8E4M3FN", "b_scale": "32x8xf8E4M3FN",
}  # fmt: skip
MXFP4 = NVFP4 | {"a_scale": "64x4xf8E8M0FNU", "b_scale": "32x4xf8E8M0FNU"}
K256 = {"a": "256x256xf8E4M3FN", "b": "128x256xf8E4M3FN"}
BLOCKS = K256 | {"a_scale": "256x2xf32", "b_scale": "1x2xf32"}
HOPPER, ADA, AMPERE = Device(), Device((8, 9)), Device((8, 0))
BLACKWELL = Device((10, 0))
GFX942, GFX950 = Device(amd="gfx942"), Device(amd="gfx950")

# Operands, result, attributes; the device; and what xla-gpu, cublaslt and torch-scaled-mm refuse.
CASES = {
    "plain": (SCALED, F32, IN_F32, HOPPER, "", "", ""),
    "plain bf16": (E4M3 | {"a_scale": "bf16", "b_scale": "bf16"}, BF16, IN_BF16, HOPPER,
                   "", "", ""),
    "ada": (SCALED, F32, IN_F32, ADA, "", "", ""),
    "ampere": (SCALED, F32, IN_F32, AMPERE, *["compute-capability"] * 3),
    "one E5M2": (SCALED | {"a": "64x128xf8E5M2"}, F32, IN_F32, HOPPER, "", "", ""),
    "FNUZ on CUDA": (
        {"a": "64x128xf8E4M3FNUZ", "b": "32x128xf8E5M2FNUZ"}, F32, IN_F32, HOPPER,
        *["format format"] * 3,
    ),
    "FNUZ on gfx942": (
        {"a": "64x128xf8E4M3FNUZ", "b": "32x128xf8E5M2FNUZ"}, F32, IN_F32, GFX942, "", "vendor", "",
    ),
    "both E5M2 FNUZ": (
        {"a": "64x128xf8E5M2FNUZ", "b": "32x128xf8E5M2FNUZ"}, F32, IN_F32, GFX942,
        "both-e5m2", "vendor", "both-e5m2",
    ),
    "OCP on gfx942": (SCALED, F32, IN_F32, GFX942, "format format", "vendor",
                      "format format"),
    "OCP on gfx950": (SCALED, F32, IN_F32, GFX950, "", "vendor", ""),
    "unknown AMD": (SCALED, F32, IN_F32, Device(amd="gfx90a"), "compute-capability",
                    "vendor", "compute-capability"),
    "f8E3M4": ({"a": "64x128xf8E3M4", "b": "32x128xf8E3M4"}, F32, IN_F32, HOPPER,
               *["format format"] * 3),
    "convert in the scale's path": (SCALED, BF16, IN_BF16, HOPPER,
                                    "scale-convert scale-convert", "", ""),
    "scales after the sum": (SCALED, F32, "", HOPPER, "scale-after-sum", "", ""),
    "one scale after the sum": (E4M3 | {"b_scale": "f32"}, F32, "", HOPPER, "", "", ""),
    "bf16 scale after the sum": (E4M3 | {"b_scale": "bf16"}, F32, "", HOPPER, "scale-convert", "",
                                 ""),
    "padded scale after the sum": (
        E4M3 | {"a": "17x128xf8E4M3FN", "b_scale": "f32"}, "17x32xf32", "", HOPPER,
        "dims-multiple-of-16", "dims-multiple-of-16", "",
    ),
    "rows after the sum": (ROWS, F32, "", HOPPER, "scale-rank scale-rank", "", ""),
    "row-wise": (ROWS, BF16, "operand_type = f32, dot_type = f32, epilogue_type = bf16", HOPPER,
                 "scale-rank scale-rank", "", ""),
    "row-wise on Ada": (ROWS, F32, IN_F32, ADA, "scale-rank scale-rank", "scale-capability", ""),
    "row-wise on Blackwell": (ROWS, F32, IN_F32, BLACKWELL, "scale-rank scale-rank",
                              "scale-capability", ""),
    "row-wise on AMD": (ROWS, F32, IN_F32, GFX950, "scale-rank scale-rank",
                        "vendor", "fine-scale-output"),
    "row-wise to FP8": (ROWS, Q, f"{IN_F32}, saturate", HOPPER, "scale-rank scale-rank",
                        "fine-scale-output", "fine-scale-output"),
    "rows with a tensor": (ROWS | {"b_scale": "f32"}, F32, IN_F32, HOPPER, "scale-rank",
                           "scale-pair", "scale-pair"),
    "one number with a rank": (SCALED | {"a_scale": "1x1xf32"}, F32, IN_F32, HOPPER, "scale-rank",
                               "", ""),
    "per contracted index": (SCALED | {"a_scale": "1x128xf32"}, F32, IN_F32, HOPPER, "scale-rank",
                             "scale-shape", "scale-shape"),
    "MX": (MX, F32, IN_F32, BLACKWELL, "", "scale-layout scale-layout",
           "scale-layout scale-layout"),
    "MX of two E5M2": (
        MX | {"a": "64x128xf8E5M2", "b": "32x128xf8E5M2"}, F32, IN_F32, BLACKWELL,
        "both-e5m2", "both-e5m2 scale-layout scale-layout", "scale-layout scale-layout",
    ),
    "NVFP4": (NVFP4, F32, IN_F32, BLACKWELL, "", "scale-layout scale-layout",
              "scale-layout scale-layout"),
    "NVFP4 of K = 48": (
        {"a": "64x48xf4E2M1FN", "b": "32x48xf4E2M1FN", "a_scale": "64x3xf8E4M3FN",
         "b_scale": "32x3xf8E4M3FN"}, F32, IN_F32, BLACKWELL, "",
        "dims-multiple-of-32 scale-layout scale-layout",
        "dims-multiple-of-32 scale-layout scale-layout",
    ),
    "NVFP4 on Hopper": (NVFP4, F32, IN_F32, HOPPER, "scale-capability",
                        "format format scale-capability", "format format scale-capability"),
    "MXFP4": (MXFP4, F32, IN_F32, BLACKWELL, "scale-shape scale-shape",
              "format format scale-layout scale-layout",
              "format format scale-layout scale-layout"),
    "MX on Hopper": (MX, F32, IN_F32, HOPPER, "scale-capability",
                     "scale-capability", "scale-capability"),
    "MX on gfx950": (MX, F32, IN_F32, GFX950, "scale-capability", "vendor", ""),
    "E8M0 in other blocks": (E4M3 | {"a_scale": "64x2xf8E8M0FNU", "b_scale": "32x4xf8E8M0FNU"},
                             F32, IN_F32, BLACKWELL,
                             "scale-rank scale-rank", "scale-shape",
                             "scale-shape"),
    "1x128 and 128x128": (BLOCKS, "256x128xf32", IN_F32, HOPPER, "scale-rank scale-rank", "", ""),
    "1x128 on Blackwell": (BLOCKS, "256x128xf32", IN_F32, BLACKWELL, "scale-rank scale-rank",
                           "scale-capability", "scale-capability"),
    "128x128 twice": (K256 | {"a_scale": "2x2xf32", "b_scale": "1x2xf32"}, "256x128xf32", IN_F32,
                      HOPPER, "scale-rank scale-rank", "scale-pair", "scale-pair"),
    "N = 24": (SCALED | {"b": "24x128xf8E4M3FN"}, "64x24xf32", IN_F32, HOPPER, "",
               "dims-multiple-of-16", "dims-multiple-of-16"),
    "M = 17": (SCALED | {"a": "17x128xf8E4M3FN"}, "17x32xf32", IN_F32, HOPPER, "",
               "dims-multiple-of-16", ""),
    "K = 120": ({"a": "64x120xf8E4M3FN", "b": "32x120xf8E4M3FN"}, F32, IN_F32, HOPPER, "",
                "dims-multiple-of-16", "dims-multiple-of-16"),
    "M = 1": (SCALED | {"a": "1x128xf8E4M3FN"}, "1x32xf32", IN_F32, HOPPER, "vector",
              "dims-multiple-of-16", ""),
    "tiny": ({"a": "2x4xf8E4M3FN", "b": "2x4xf8E4M3FN"}, "2x2xf32", IN_F32, HOPPER, "too-small",
             "dims-multiple-of-16", "dims-multiple-of-16"),
    "padded quantization": (SCALED | {"a": "17x128xf8E4M3FN"}, "17x32xf8E4M3FN",
                            f"{IN_F32}, saturate", HOPPER, "dims-multiple-of-16",
                            "dims-multiple-of-16", ""),
    "f32 bias": (SCALED | {"bias": "32xf32"}, F32, IN_F32, HOPPER, *["bias-type"] * 3),
    "bf16 bias of f32": (SCALED | {"bias": "32xbf16"}, F32, IN_F32, HOPPER, "", "", "bias-type"),
    "f16 bias of f32": (SCALED | {"bias": "32xf16"}, F32, IN_F32, HOPPER, *["bias-type"] * 3),
    "bf16 bias": (E4M3 | {"bias": "32xbf16"}, BF16, IN_BF16, HOPPER, "", "", ""),
    "f16 bias": (E4M3 | {"bias": "32xf16"}, F16, IN_F16, HOPPER, "", "", ""),
    "f32 bias rounded to bf16": (E4M3 | {"bias": "32xf32"}, BF16, IN_BF16, HOPPER, "", "", ""),
    "f16 bias, bf16 result": (
        E4M3 | {"bias": "32xf16"}, BF16, f"{IN_F32}, epilogue_type = f32", HOPPER,
        *["bias-type"] * 3,
    ),
    "matrix": (SCALED | {"c": F32}, F32, IN_F32, HOPPER, "", "", "matrix-bias"),
    "matrix times beta": (SCALED | {"c": F32}, F32, f"{IN_F32}, beta = 0.5 : f32", HOPPER, "beta",
                          "", "matrix-bias"),
    "matrix and bias": (E4M3 | {"c": BF16, "bias": "32xbf16"}, BF16, IN_BF16, HOPPER,
                        "bias-and-matrix", "", "matrix-bias"),
    "f32 matrix, FP8 result": (SCALED | {"c": F32}, Q, f"{IN_F32}, saturate", HOPPER,
                               "matrix-bias-type", "matrix-bias-type", "matrix-bias"),
    "bf16 matrix, FP8 result": (E4M3 | {"c": BF16}, Q, f"{IN_BF16}, saturate", HOPPER, "", "",
                                "matrix-bias"),
    "relu": (SCALED, F32, f'{IN_F32}, activation = "relu"', HOPPER, "", "", "activation"),
    "tanh-GELU": (SCALED, F32, f'{IN_F32}, activation = "gelu_tanh"', HOPPER, "", "", "activation"),
    "tanh-GELU, CUDA 12.3": (SCALED, F32, f'{IN_F32}, activation = "gelu_tanh"',
                             Device(cuda=(12, 3)), "cuda-version", "cuda-version", "activation"),
    "erf-GELU": (SCALED, F32, f'{IN_F32}, activation = "gelu_erf"', HOPPER, *["activation"] * 3),
    "alpha": (SCALED, F32, f"{IN_F32}, alpha = 0.5 : f32", HOPPER, "", "", "alpha"),
    "FP8 result": (SCALED | {"d_scale": "f32"}, Q, f"{IN_F32}, saturate", HOPPER, "", "", ""),
    "FP8 result with amax": (SCALED | {"d_scale": "f32"}, Q, f"{IN_F32}, saturate, amax", HOPPER,
                             "", "", "amax"),
    "amax of f32": (SCALED, F32, f"{IN_F32}, amax", HOPPER, "amax", "amax", "amax"),
    "unclamped": (SCALED | {"d_scale": "f32"}, Q, IN_F32, HOPPER, *["unclamped-output"] * 3),
    "FP8 by the dot itself": (E4M3, Q, "", HOPPER, "", "unclamped-output", "unclamped-output"),
    "E5M2 of E4M3": (SCALED, "64x32xf8E5M2", f"{IN_F32}, saturate", HOPPER, *["result-type"] * 3),
    "E5M2 of E5M2": (SCALED | {"b": "32x128xf8E5M2"}, "64x32xf8E5M2", f"{IN_F32}, saturate", HOPPER,
                     "", "", ""),
    "scaled f32 result": (E4M3 | {"d_scale": "f32"}, F32, IN_F32, HOPPER, "", "output-scale",
                          "output-scale"),
    "scaled twice f32 result": (SCALED | {"d_scale": "f32"}, F32, IN_F32, HOPPER,
                                *["output-scale"] * 3),
    "converted output scale": (E4M3 | {"d_scale": "f32"}, Q, f"{IN_BF16}, saturate", HOPPER,
                               "scale-convert", "", ""),
    "epilogue in another type": (E4M3, F32, 'operand_type = bf16, dot_type = bf16, '
                                 'epilogue_type = f32, activation = "relu"', HOPPER,
                                 "epilogue-convert", "", "activation"),
    "quantized on ROCm": (SCALED, Q, f"{IN_F32}, saturate", GFX950, "rocm-output", "vendor", ""),
}  # fmt: skip
