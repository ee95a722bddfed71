// Arrays of one rank, as programs have them after the passes.
func.func @views(%a: !ndarray.ndarray<8x?xf64>, %n: index, %x: f64) -> (!ndarray.ndarray<?x4xf64>, f64) {
  %c0 = arith.constant 0 : index
  %v = ndarray.subview %a[2, %n][4, %n][1, 2] : !ndarray.ndarray<8x?xf64> to !ndarray.ndarray<4x?xf64>
  %w = ndarray.subview %a[0, 0][4, 4][1, 1] : !ndarray.ndarray<8x?xf64> to !ndarray.ndarray<?x4xf64>
  %d = ndarray.dim %a, %c0 : (!ndarray.ndarray<8x?xf64>, index) -> index
  %e = ndarray.load %a[%c0, %c0] : (!ndarray.ndarray<8x?xf64>) to f64
  %s = ndarray.create value %x : (f64) -> !ndarray.ndarray<f64>
  ndarray.insert_slice %v into %a[0, %c0][4, %n][1, 1] : !ndarray.ndarray<4x?xf64> into !ndarray.ndarray<8x?xf64>
  ndarray.insert_slice %s into %a[0, 0][2, 2][1, 1] : !ndarray.ndarray<f64> into !ndarray.ndarray<8x?xf64>
  %k = ndarray.copy %a : (!ndarray.ndarray<8x?xf64>) -> !ndarray.ndarray<8x?xf64>
  %r = ndarray.cast %k : !ndarray.ndarray<8x?xf64> to !ndarray.ndarray<?x?xf64>
  ndarray.delete %k : (!ndarray.ndarray<8x?xf64>)
  return %w, %e : !ndarray.ndarray<?x4xf64>, f64
}
func.func @operators(%a: !ndarray.ndarray<4x6xf64>, %b: !ndarray.ndarray<1x6xf64>, %i: !ndarray.ndarray<?xi32>) -> !ndarray.ndarray<6x4xf32> {
  %n = arith.constant 4 : index
  %new = ndarray.create %n, %n : (index, index) -> !ndarray.ndarray<4x4xf64>
  %s = ndarray.ewbin add %a, %b : (!ndarray.ndarray<4x6xf64>, !ndarray.ndarray<1x6xf64>) -> !ndarray.ndarray<4x6xf64>
  %l = ndarray.ewbin lt %a, %s : (!ndarray.ndarray<4x6xf64>, !ndarray.ndarray<4x6xf64>) -> !ndarray.ndarray<4x6xi1>
  %c = ndarray.where %l, %a, %s : (!ndarray.ndarray<4x6xi1>, !ndarray.ndarray<4x6xf64>, !ndarray.ndarray<4x6xf64>) -> !ndarray.ndarray<4x6xf64>
  %q = ndarray.ewuny sqrt %c : (!ndarray.ndarray<4x6xf64>) -> !ndarray.ndarray<4x6xf64>
  %h = ndarray.ewuny sinh %q : (!ndarray.ndarray<4x6xf64>) -> !ndarray.ndarray<4x6xf64>
  %j = ndarray.ewuny square %i : (!ndarray.ndarray<?xi32>) -> !ndarray.ndarray<?xi32>
  %m = ndarray.ewbin floordiv %i, %j : (!ndarray.ndarray<?xi32>, !ndarray.ndarray<?xi32>) -> !ndarray.ndarray<?xi32>
  %t = ndarray.permute_dims %h [1, 0] : (!ndarray.ndarray<4x6xf64>) -> !ndarray.ndarray<6x4xf64>
  %f = ndarray.cast_elemtype %t : !ndarray.ndarray<6x4xf64> to !ndarray.ndarray<6x4xf32>
  %z = ndarray.reduction sum %a : (!ndarray.ndarray<4x6xf64>) -> !ndarray.ndarray<f64>
  %y = ndarray.reduction prod %a [0] : (!ndarray.ndarray<4x6xf64>) -> !ndarray.ndarray<6xf64>
  %x = ndarray.reduction max %a [1] keepdims : (!ndarray.ndarray<4x6xf64>) -> !ndarray.ndarray<4x1xf64>
  distruntime.allreduce sum %z : (!ndarray.ndarray<f64>)
  return %f : !ndarray.ndarray<6x4xf32>
}
func.func @other(%m: memref<?xf64, strided<[?], offset: ?>>) -> !ndarray.ndarray<?xf64> {
  %a = ndarray.from_memref %m : (memref<?xf64, strided<[?], offset: ?>>) -> !ndarray.ndarray<?xf64>
  return %a : !ndarray.ndarray<?xf64>
}
