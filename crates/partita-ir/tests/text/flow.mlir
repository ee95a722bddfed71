// Functions, loops, choices, constants as MLIR writes them.
func.func private @elsewhere(index, f64) -> (f64, index)
func.func @loop(%n: index, %x: f64 {a.b = 1 : i8}) -> (f64 {c.d}) attributes {note = "two\nlines"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yes = arith.constant true
  %third = arith.constant -2.5e-3 : f64
  %inf = arith.constant 0x7FF0000000000000 : f64
  %byte = arith.constant 255 : i8
  %z = complex.constant [1.0, -0.5] : complex<f64>
  %d = arith.constant dense<[1, 2]> : tensor<2xi32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (f64) {
    %less = arith.cmpi slt, %i, %n : index
    %next = scf.if %less -> (f64) {
      %a = arith.addf %acc, %third fastmath<fast> : f64
      scf.yield %a : f64
    } else {
      scf.yield %acc : f64
    }
    scf.if %yes {
      %w = arith.index_cast %i : index to i64
    }
    scf.yield %next : f64
  }
  %r:2 = call @elsewhere(%n, %sum) : (index, f64) -> (f64, index)
  %o = arith.select %yes, %r#0, %sum : f64
  %q = math.sqrt %o : f64
  "other.thing"(%q) ({
  ^bb0(%inner: f64):
    "other.end"(%inner) : (f64) -> ()
  }) {big = 18446744073709551615 : ui64, map = affine_map<(i, j) -> (j, i)>, nested = [@a::@b, {x = !other.type<3, ">">}]} : (f64) -> () loc("here")
  return %q : f64
}
