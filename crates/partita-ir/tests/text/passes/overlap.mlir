// passes: overlap-comm-and-compute
// Both operators on the core come before the wait, which stands before the first look at a halo.
!l = !ndarray.ndarray<34x100xf64>
!h = !ndarray.ndarray<2x100xf64>
!c = !ndarray.ndarray<30x96xf64>
!e = !ndarray.ndarray<2x96xf64>
func.func @f(%a: !l, %n: index) -> (!c, !e) {
  %h:3 = distruntime.get_halo %a g_shape %n, %n l_offsets %n, %n bb_offsets %n, %n bb_sizes %n, %n {key = -1 : i64, team = 1 : i64} : (!l, index, index, index, index, index, index, index, index) -> (!distruntime.asynchandle, !h, !h)
  distruntime.wait %h#0 : (!distruntime.asynchandle)
  %e = ndarray.subview %h#1[0, 2][2, 96][1, 1] : !h to !e
  %v = ndarray.subview %a[2, 2][30, 96][1, 1] : !l to !c
  %w = ndarray.subview %a[4, 2][30, 96][1, 1] : !l to !c
  %s = ndarray.ewbin add %v, %w : (!c, !c) -> !c
  %f = ndarray.ewbin add %e, %e : (!e, !e) -> !e
  %t = ndarray.ewbin mul %s, %w : (!c, !c) -> !c
  return %t, %f : !c, !e
}
