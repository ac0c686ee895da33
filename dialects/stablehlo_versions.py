"""The StableHLO version that introduced each type, op and attribute, as VHLO's own tables have it.

A portable artifact for an older version cannot hold the feature. What is not listed here is unknown
to the table, not old. Versions are those of `VHLO_Op`, `VHLO_TypeDef` and `VHLO_AttrDef` and of the
version log in StableHLO's `VhloDialect.td`; test_artifact_versions.py tries each in the library.
"""

from mlir_fp8.dialects.float_formats import FORMATS

TABLE_VERSION = "1.19.0"
"""The StableHLO version that this table describes."""

BASE_VERSION = "0.9.0"
"""The first version with compatibility guarantees: what it holds, every version holds."""

OTHER_DIALECTS_VERSION = "1.11.0"
"""The first version whose artifacts may hold ops of dialects that are not StableHLO's."""

# fmt: off
_BASE_OPS = (
    "abs", "add", "after_all", "all_gather", "all_reduce", "all_to_all", "and", "atan2",
    "batch_norm_grad", "batch_norm_inference", "batch_norm_training", "bitcast_convert",
    "broadcast", "broadcast_in_dim", "case", "cbrt", "ceil", "cholesky", "clamp",
    "collective_permute", "compare", "complex", "concatenate", "constant", "convert",
    "convolution", "cosine", "count_leading_zeros", "create_token", "cross-replica-sum",
    "custom_call", "divide", "dot", "dot_general", "dynamic_broadcast_in_dim", "dynamic_conv",
    "dynamic_gather", "dynamic_iota", "dynamic_pad", "dynamic_reshape", "dynamic_slice",
    "dynamic_update_slice", "einsum", "exponential", "exponential_minus_one", "fft", "floor",
    "gather", "get_dimension_size", "get_tuple_element", "if", "imag", "infeed", "iota",
    "is_finite", "log", "log_plus_one", "logistic", "map", "maximum", "minimum", "multiply",
    "negate", "not", "optimization_barrier", "or", "outfeed", "pad", "partition_id", "popcnt",
    "power", "real", "real_dynamic_slice", "recv", "reduce", "reduce_precision", "reduce_scatter",
    "reduce_window", "remainder", "replica_id", "reshape", "return", "reverse", "rng",
    "rng_bit_generator", "round_nearest_afz", "round_nearest_even", "rsqrt", "scatter", "select",
    "select_and_scatter", "send", "set_dimension_size", "shift_left", "shift_right_arithmetic",
    "shift_right_logical", "sign", "sine", "slice", "sort", "sqrt", "subtract", "tanh",
    "torch_index_select", "transpose", "triangular_solve", "tuple", "unary_einsum",
    "uniform_dequantize", "uniform_quantize", "while", "xor",
)
# fmt: on

OPS: dict[str, str] = {
    **{f"stablehlo.{name}": BASE_VERSION for name in _BASE_OPS},
    "stablehlo.collective_broadcast": "0.16.0",
    "stablehlo.composite": "0.19.0",
    "stablehlo.tan": "1.4.0",
    "stablehlo.async_start": "1.15.0",
    "stablehlo.async_done": "1.15.0",
    "stablehlo.collective_reduce": "1.19.0",
    "builtin.module": BASE_VERSION,
    "func.call": BASE_VERSION,
    "func.func": BASE_VERSION,
    "func.return": BASE_VERSION,
}
"""By name of the op."""

TYPES: dict[str, str] = {
    **{name: row.stablehlo_version for name, row in FORMATS.items()},
    **dict.fromkeys(("i1", "i4", "i8", "i16", "i32", "i64"), BASE_VERSION),
    **dict.fromkeys(("ui4", "ui8", "ui16", "ui32", "ui64", "index"), BASE_VERSION),
    "i2": "1.2.0",
    "ui2": "1.2.0",
    "tf32": "1.6.0",
    "none": "1.6.0",
    "!stablehlo.token": BASE_VERSION,
    "!shape.witness": BASE_VERSION,
}
"""By MLIR's spelling of a type without parameters."""

TYPE_FORMS: dict[str, str] = {
    "per-axis quantized type": "0.18.0",
    "buffer type (memref)": "1.13.0",
    "future type": "1.15.0",
}
"""Of types with parameters, those that are newer than `BASE_VERSION`."""

ATTRIBUTES: dict[str, str] = {
    **dict.fromkeys(
        [
            "bounds",
            "channel_handle",
            "conv",
            "dot",
            "gather",
            "scatter",
            "output_operand_alias",
            "api_version",
            "comparison_direction",
            "comparison_type",
            "custom_call_api_version",
            "fft_type",
            "precision",
            "rng_algorithm",
            "rng_distribution",
            "transpose",
            "type_extensions",
        ],
        BASE_VERSION,
    ),
    "dot_algorithm": "1.6.0",
    "result_accuracy": "1.9.0",
    "axis_ref": "1.16.0",
    "mesh": "1.16.0",
    "mesh_axis": "1.16.0",
    "replica_group_mesh_axes": "1.16.0",
    "sub_axis_info": "1.16.0",
}
"""By mnemonic of an attribute of the StableHLO dialect: `#stablehlo.gather<...>`."""


def version_key(version: str) -> tuple[int, ...]:
    """What versions `x.y.z` are ordered by."""
    return tuple(map(int, version.split(".")))


def releases(oldest: str, newest: str) -> list[str]:
    """Every version that introduced something, from `oldest` to `newest`, in order.

    Patch releases introduce nothing; 1.0 followed 0.20.
    """
    known = [f"0.{minor}.0" for minor in range(9, 21)]
    major, minor, _ = version_key(newest)
    known += [f"{major}.{each}.0" for each in range(minor + 1)] if major else []
    low, high = version_key(oldest), version_key(newest)
    return [version for version in known if low <= version_key(version) <= high]
