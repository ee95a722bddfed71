// The specification's own spellings: types with and without `!`, `0x0`, a part alone, a grid.
func.func @types(%a: ndarray.ndarray<44xi64, #dist.dist_env<team = 37416 loffs = 22 lparts = 0,11,0>>,
                 %b: ndarray.ndarray<44xi64, #dist.dist_env<team = 37416 loffs = ? lparts = ?,?,?>>,
                 %c: !ndarray.ndarray<44x55xi64, #dist.dist_env<team = 1 loffs = 22,0 lparts = 0x0,11x55,0x0>>,
                 %d: !ndarray.ndarray<f64, #dist.dist_env<team = 22 : i64>>,
                 %e: !ndarray.ndarray<22xi64, #dist.dist_env<team = 1 loffs = 0 lparts = 0,22,0>, #region.gpu_env<device = "sycl:gpu:0">>,
                 %f: !ndarray.ndarray<6x6xf32, #dist.dist_env<team = "world" loffs = 3,0 lparts = 3x6>>,
                 %g: !ndarray.ndarray<8x8xf64 : "col", #dist.dist_env<team = 1 grid = [2, 2] cut = [0, 1] loffs = 0,0 lparts = 0x0,0x4,0x0,4x0,4x4,4x1,0x0,1x4,1x1>>) {
  return
}
func.func @ops(%a: !ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>, %n: index, %x: i64) -> index {
  %o = dist.local_offsets_of(%a) : (!ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>) -> index
  %p:3 = dist.parts_of(%a) : (!ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>) -> (!ndarray.ndarray<?xi64>, !ndarray.ndarray<?xi64>, !ndarray.ndarray<?xi64>)
  %lo, %ls = dist.default_partition(%n, %n, %n) : (index, index, index) -> (index, index)
  %to, %ts = dist.local_target_of_slice %a [%o] [%n] [%n] : (!ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>) to (index, index)
  %b0, %b1 = dist.local_bounding_box [%o] [%n] [%n] [%to] [%ts] : (index, index)
  %i0, %i1 = dist.local_bounding_box inner [%o] [%n] [%n] [%to] [%ts] bboffs %b0 bb_sizes %b1 : (index, index)
  %c0, %c1 = dist.local_core %a toffs %to tsizes %ts soffs %o ssizes %n sstrides %n : (!ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>) to (index, index)
  %r = dist.repartition %a loffs %b0 lsizes %b1 : (!ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>, index, index) to !ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
  %q = dist.repartition %a : (!ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>) to !ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
  %v = dist.subview %r[1][%n][1] toffs %to tsizes %ts : !ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>> to !ndarray.ndarray<?xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
  %s = dist.ewbin add %v, %v coffs %c0 csizes %c1 toffs %to : (!ndarray.ndarray<?xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>, !ndarray.ndarray<?xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>) to !ndarray.ndarray<?xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
  %t = dist.ewuny %s {op = 26 : i32} : (!ndarray.ndarray<?xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>) -> !ndarray.ndarray<?xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
  ndarray.insert_slice %t into %a[1][%n][1] : !ndarray.ndarray<?xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>> into !ndarray.ndarray<44xi64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>
  %w = ndarray.create %n, %n value %x : (index, index, i64) -> !ndarray.ndarray<?x?xi64>
  %l = ndarray.linspace endpoint %x, %x, %n : (i64, i64, index) -> !ndarray.ndarray<?xi64>
  %z = ndarray.reduction sum %w [0] keepdims : (!ndarray.ndarray<?x?xi64>) -> !ndarray.ndarray<1x?xi64>
  %y = ndarray.permute_dims %w [1, 0] : (!ndarray.ndarray<?x?xi64>) -> !ndarray.ndarray<?x?xi64>
  %h:3 = distruntime.get_halo %p#1 g_shape %n l_offsets %o bb_offsets %b0 bb_sizes %b1 {key = -1 : i64, team = 1 : i64} : (!ndarray.ndarray<?xi64>, index, index, index, index) -> (!distruntime.asynchandle, !ndarray.ndarray<?xi64>, !ndarray.ndarray<?xi64>)
  distruntime.wait %h#0 : (!distruntime.asynchandle)
  %e = ndarray.load %w[%n, %n] : (!ndarray.ndarray<?x?xi64>) to i64
  return %o : index
}
