// passes: dist-coalesce
// Three arrays are brought, the sum of two of them is not.
!d = !ndarray.ndarray<16xi64, #dist.dist_env<team = 22 loffs = ? lparts = ?,?,?>>
func.func @f(%a: !d, %b: !d, %c: !d) -> !d {
  %r1 = dist.repartition %a : (!d) to !d
  %r2 = dist.repartition %b : (!d) to !d
  %s = dist.ewbin add %r1, %r2 : (!d, !d) to !d
  %rs = dist.repartition %s : (!d) to !d
  %r3 = dist.repartition %c : (!d) to !d
  %t = dist.ewbin add %rs, %r3 : (!d, !d) to !d
  return %t : !d
}
