// passes: canonicalise, ndarray-dist, dist-coalesce, cse
// Views at a known distance are fetched together, wherever they begin; one at a distance that only
// the run knows gets a box of its own.
!a = !ndarray.ndarray<64xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!v = !ndarray.ndarray<8xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
func.func @f(%a: !a, %i: index, %j: index) -> !v {
  %c1 = arith.constant 1 : index
  %k = arith.addi %i, %c1 : index
  %x = ndarray.subview %a[%i][8][1] : !a to !v
  %y = ndarray.subview %a[%k][8][1] : !a to !v
  %z = ndarray.subview %a[%j][8][1] : !a to !v
  %s = ndarray.ewbin add %x, %y : (!v, !v) -> !v
  %t = ndarray.ewbin add %s, %z : (!v, !v) -> !v
  return %t : !v
}
