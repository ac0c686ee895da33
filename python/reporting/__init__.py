"""The values of a module on given inputs, and their quantization errors: `mlir_fp8.report`.

`program` makes every value of an entry function a result, with what it was before its rounding;
`twin` makes the same program in f32; `statistics`, `distance` and `choice` measure arrays;
`report` puts it together, `json_form` and `page` write it down.
"""
