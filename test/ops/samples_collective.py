"""Programs of collectives and of what talks to the world."""

from samples import ALL, Sample, function, sample


def _effect(op: str, body: str, form: str = "") -> Sample:
    """A program of one argument that gives %0, or its argument where there is no %0."""
    given = "%0" if "%0 =" in body or "%0, " in body else "%a"
    text = function("%a: tensor<3x$T>", "tensor<3x$T>", f"{body}\n  return {given} : tensor<3x$T>")
    return Sample(op, text, ALL, form)


_GROUPS = "replica_groups = dense<0> : tensor<1x1xi64>"

COLLECTIVE = [
    _effect(
        "stablehlo.all_gather",
        f'  %0 = "stablehlo.all_gather"(%a) {{all_gather_dim = 0 : i64,'
        f" {_GROUPS}}} : (tensor<3x$T>) -> tensor<3x$T>",
    ),
    _effect(
        "stablehlo.all_reduce",
        f"""  %0 = "stablehlo.all_reduce"(%a) ({{
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %s = stablehlo.add %x, %y : tensor<$T>
      stablehlo.return %s : tensor<$T>
  }}) {{{_GROUPS}}} : (tensor<3x$T>) -> tensor<3x$T>""",
    ),
    _effect(
        "stablehlo.reduce_scatter",
        f"""  %0 = "stablehlo.reduce_scatter"(%a) ({{
    ^bb0(%x: tensor<$T>, %y: tensor<$T>):
      %s = stablehlo.add %x, %y : tensor<$T>
      stablehlo.return %s : tensor<$T>
  }}) {{scatter_dimension = 0 : i64, {_GROUPS}}} : (tensor<3x$T>) -> tensor<3x$T>""",
    ),
    _effect(
        "stablehlo.all_to_all",
        '  %0 = "stablehlo.all_to_all"(%a) {split_dimension = 0 : i64,'
        f" concat_dimension = 0 : i64, split_count = 1 : i64, {_GROUPS}}}"
        " : (tensor<3x$T>) -> tensor<3x$T>",
    ),
    _effect(
        "stablehlo.collective_broadcast",
        f'  %0 = "stablehlo.collective_broadcast"(%a)'
        f" {{{_GROUPS}}} : (tensor<3x$T>) -> tensor<3x$T>",
    ),
    _effect(
        "stablehlo.collective_permute",
        '  %0 = "stablehlo.collective_permute"(%a)'
        " {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}"
        " : (tensor<3x$T>) -> tensor<3x$T>",
    ),
    sample(
        "stablehlo.partition_id",
        "n",
        "",
        "tensor<ui32>",
        "  %0 = stablehlo.partition_id : tensor<ui32>",
    ),
    sample(
        "stablehlo.replica_id",
        "n",
        "",
        "tensor<ui32>",
        "  %0 = stablehlo.replica_id : tensor<ui32>",
    ),
    _effect(
        "stablehlo.infeed",
        "  %t = stablehlo.create_token : !stablehlo.token\n"
        '  %0, %u = "stablehlo.infeed"(%t) : (!stablehlo.token)'
        " -> (tensor<3x$T>, !stablehlo.token)",
    ),
    _effect(
        "stablehlo.outfeed",
        "  %t = stablehlo.create_token : !stablehlo.token\n"
        '  %u = "stablehlo.outfeed"(%a, %t) : (tensor<3x$T>, !stablehlo.token)'
        " -> !stablehlo.token",
    ),
    _effect(
        "stablehlo.send",
        "  %t = stablehlo.create_token : !stablehlo.token\n"
        '  %u = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<'
        "handle = 1, type = 2>, is_host_transfer = true} : (tensor<3x$T>, !stablehlo.token)"
        " -> !stablehlo.token",
    ),
    _effect(
        "stablehlo.recv",
        "  %t = stablehlo.create_token : !stablehlo.token\n"
        '  %0, %u = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<'
        "handle = 1, type = 3>, is_host_transfer = true} : (!stablehlo.token)"
        " -> (tensor<3x$T>, !stablehlo.token)",
    ),
    _effect(
        "stablehlo.cross-replica-sum",
        f'  %0 = "stablehlo.cross-replica-sum"(%a) {{{_GROUPS}}} : (tensor<3x$T>) -> tensor<3x$T>',
    ),
    *(
        _effect(
            op,
            """  %f = "stablehlo.async_start"(%a) ({
    ^bb0(%x: tensor<3x$T>):
      %s = "stablehlo.collective_permute"(%x)
        {source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>} : (tensor<3x$T>) -> tensor<3x$T>
      stablehlo.return %s : tensor<3x$T>
  }) : (tensor<3x$T>) -> !stablehlo.future<tensor<3x$T>>
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<3x$T>>) -> tensor<3x$T>""",
        )
        for op in ("stablehlo.async_start", "stablehlo.async_done")
    ),
]
