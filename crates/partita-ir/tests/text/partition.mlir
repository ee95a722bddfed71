#CSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
#DCSR = #partition.encoding<#CSR, ["distributed", "replicated"]>
func.func @slice(%A: tensor<1024x1024xf64, #DCSR>, %me: index) -> tensor<?x1024xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %g:2 = "partition.get_grid_size"() : () -> (index, index)
  %Al = "partition.get_slice"(%A, %me, %c0, %g#0, %g#1, %me, %c0) {operand_segment_sizes = array<i32: 1, 2, 2, 2>} : (tensor<1024x1024xf64, #DCSR>, index, index, index, index, index, index) -> tensor<?x1024xf64, #CSR>
  return %Al : tensor<?x1024xf64, #CSR>
}
