// The diagnostics of passes, upstream and own, are checked too.
// RUN: fp8-opt %s --split-input-file --verify-diagnostics --verify-lowered
// RUN: fp8-opt %s --split-input-file --verify-diagnostics=only-expected --verify-lowered

// expected-error@below {{'func.func'}}
func.func @main() { return }

// -----

// A location that is in no file.
// expected-error@unknown {{'func.func'}}
"builtin.module"() ({
  "func.func"() ({ "func.return"() : () -> () }) {function_type = () -> (), sym_name = "main"} : () -> () loc(unknown)
}) : () -> ()
