// Aliases, both spellings of group sizes, results in groups.
#part = #dist.dist_env<37416 : i64, array<i64: 22>, [array<i64: 0>, array<i64: 11>, array<i64: 0>]>
#any = #dist.dist_env<37416 : i64, array<i64: -9223372036854775808>, [array<i64: -9223372036854775808>, array<i64: -9223372036854775808>, array<i64: -9223372036854775808>]>
!a = !ndarray.ndarray<tensor<44xi64>, #part>
!d = !ndarray.ndarray<tensor<44xi64>, #any>
func.func @k(%a: !a) -> !d {
  %np = "distruntime.team_size"() {team = 37416 : i64} : () -> index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %p:2 = "dist.default_partition"(%np, %c0, %c4) : (index, index, index) -> (index, index)
  %bb:2 = "dist.local_bounding_box"(%c0, %c4, %c4, %c0, %c4) {inner = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 0>, result_segment_sizes = array<i32: 1, 1>} : (index, index, index, index, index) -> (index, index)
  %r = "dist.repartition"(%a, %bb#0, %bb#1) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!a, index, index) -> !d
  %s = "dist.ewbin"(%r, %r) {op = 0 : i32} : (!d, !d) -> !d
  return %s : !d
}
