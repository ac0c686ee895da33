"""What a module's values are on given inputs, and what their formats lose: `mlir_fp8.report`.

`program` makes every value of an entry function a result, with what it was before its rounding;
`twin` makes the same program in f32; `statistics`, `distance` and `choice` measure arrays;
`report` puts it together, `json_form` and `page` write it down.
"""
