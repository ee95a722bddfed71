// passes: dist-coalesce
// Three shifted views of one array, added and written into a slice of another: one exchange.
!d = !ndarray.ndarray<16xi64, #dist.dist_env<team = 22 loffs = ? lparts = ?,?,?>>
!v = !ndarray.ndarray<12xi64, #dist.dist_env<team = 22 loffs = ? lparts = ?,?,?>>
func.func @f(%a: !d, %x: !d) {
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %c1 = arith.constant 1 : index
  %v0 = dist.subview %a[0][12][1] : !d to !v
  %v1 = dist.subview %a[2][12][1] : !d to !v
  %r0 = dist.repartition %v0 : (!v) to !v
  %r1 = dist.repartition %v1 : (!v) to !v
  %s = dist.ewbin add %r0, %r1 : (!v, !v) to !v
  %v2 = dist.subview %a[4][12][1] : !d to !v
  %rs = dist.repartition %s : (!v) to !v
  %r2 = dist.repartition %v2 : (!v) to !v
  %t = dist.ewbin add %rs, %r2 : (!v, !v) to !v
  %to, %ts = dist.local_target_of_slice %x [%c2] [%c12] [%c1] : (!d) to (index, index)
  %rt = dist.repartition %t loffs %to lsizes %ts : (!v, index, index) to !v
  ndarray.insert_slice %rt into %x[2][12][1] {placed} : !v into !d
  return
}
