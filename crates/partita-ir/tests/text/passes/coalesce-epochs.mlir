// passes: ndarray-dist, dist-propagate, dist-coalesce, canonicalise, dce
// Every turn of a loop fetches anew; a write ends what one exchange serves; two arrays that are
// read together travel together; a view far away has an exchange of its own.
!d = !ndarray.ndarray<4096xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
!v = !ndarray.ndarray<1000xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
func.func @f(%a: !d, %b: !d, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v0 = ndarray.subview %a[1][1000][1] : !d to !v
    %v1 = ndarray.subview %a[2][1000][1] : !d to !v
    %w0 = ndarray.subview %b[3][1000][1] : !d to !v
    %w1 = ndarray.subview %b[4][1000][1] : !d to !v
    %far = ndarray.subview %a[3000][1000][1] : !d to !v
    %s0 = ndarray.ewbin add %v0, %v1 : (!v, !v) -> !v
    %s1 = ndarray.ewbin add %w0, %w1 : (!v, !v) -> !v
    %s2 = ndarray.ewbin add %s0, %s1 : (!v, !v) -> !v
    %s3 = ndarray.ewbin add %s2, %far : (!v, !v) -> !v
    ndarray.insert_slice %s3 into %a[0][1000][1] : !v into !d
    %x0 = ndarray.subview %a[1][1000][1] : !d to !v
    %x1 = ndarray.subview %a[2][1000][1] : !d to !v
    %y = ndarray.ewbin add %x0, %x1 : (!v, !v) -> !v
    ndarray.insert_slice %y into %a[0][1000][1] : !v into !d
  }
  return
}
