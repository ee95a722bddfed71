// passes: ndarray-dist, dist-propagate, dce
// Arguments and views that lie alike stay where they are; a row that repeats is brought whole.
!d = !ndarray.ndarray<8x6xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
!v = !ndarray.ndarray<5x6xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
!r = !ndarray.ndarray<6xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
func.func @f(%a: !d, %b: !d, %r: !r) -> (!v, !d) {
  %va = ndarray.subview %a[1, 0][5, 6][1, 1] : !d to !v
  %vb = ndarray.subview %b[1, 0][5, 6][1, 1] : !d to !v
  %s = ndarray.ewbin add %va, %vb : (!v, !v) -> !v
  %t = ndarray.ewbin mul %a, %r : (!d, !r) -> !d
  return %s, %t : !v, !d
}
