// passes: add-comm-cache-keys
// Two exchanges get the keys 0 and 1.
!l = !ndarray.ndarray<?xi64>
func.func @f(%a: !l, %n: index) {
  %h:3 = distruntime.get_halo %a g_shape %n l_offsets %n bb_offsets %n bb_sizes %n {key = -1 : i64, team = 1 : i64} : (!l, index, index, index, index) -> (!distruntime.asynchandle, !l, !l)
  distruntime.wait %h#0 : (!distruntime.asynchandle)
  %g:3 = distruntime.get_halo %a g_shape %n l_offsets %n bb_offsets %n bb_sizes %n {key = -1 : i64, team = 1 : i64} : (!l, index, index, index, index) -> (!distruntime.asynchandle, !l, !l)
  distruntime.wait %g#0 : (!distruntime.asynchandle)
  return
}
