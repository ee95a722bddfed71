// passes: canonicalise, cse, ndarray-dist, dist-propagate, dist-coalesce, dist-infer-elementwise-cores, cse, convert-dist-to-standard, canonicalise, cse, dce, overlap-comm-and-compute, add-comm-cache-keys; n_ranks = 3; rank = 1
// Three rows of an array become one of another; the middle rank of three has a core and two edges.
!d = !ndarray.ndarray<48x10xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
!v = !ndarray.ndarray<46x10xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
func.func @f(%a: !d, %x: !d) {
  %v0 = ndarray.subview %a[0, 0][46, 10][1, 1] : !d to !v
  %v1 = ndarray.subview %a[1, 0][46, 10][1, 1] : !d to !v
  %v2 = ndarray.subview %a[2, 0][46, 10][1, 1] : !d to !v
  %s = ndarray.ewbin add %v0, %v1 : (!v, !v) -> !v
  %t = ndarray.ewbin add %s, %v2 : (!v, !v) -> !v
  ndarray.insert_slice %t into %x[1, 0][46, 10][1, 1] : !v into !d
  return
}
