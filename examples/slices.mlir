// Each rank takes the rows that the next one has of a sparse matrix (`next`), and puts them in the
// place of its own (`turned`; all have as many here).
//
//   python -c "import scipy.sparse as s; s.save_npz('matrix.npz', s.eye_array(6, format='csr'))"
//   partita run -n 2 examples/slices.mlir --function turned --arg 0=matrix.npz
//   partita run -n 2 examples/slices.mlir --function next --arg 0=matrix.npz --local --json

#CSR = #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>
#Rows = #partition.encoding<#CSR, ["distributed", "replicated"]>

func.func @next(%a: tensor<?x?xf64, #Rows>) -> tensor<?x?xf64, #CSR> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %me = "distruntime.team_member"() {team = 1 : i64} : () -> index
  %grid:2 = "partition.get_grid_size"() : () -> (index, index)
  %after = arith.addi %me, %c1 : index
  %which = arith.remui %after, %grid#0 : index
  %slice = partition.get_slice %a processor_id %me, %c0 grid_size %grid#0, %grid#1 slice_id %which, %c0
    : (tensor<?x?xf64, #Rows>, index, index, index, index, index, index) -> tensor<?x?xf64, #CSR>
  return %slice : tensor<?x?xf64, #CSR>
}

func.func @turned(%a: tensor<?x?xf64, #Rows>) -> tensor<?x?xf64, #Rows> {
  %c0 = arith.constant 0 : index
  %me = "distruntime.team_member"() {team = 1 : i64} : () -> index
  %grid:2 = "partition.get_grid_size"() : () -> (index, index)
  %slice = func.call @next(%a) : (tensor<?x?xf64, #Rows>) -> tensor<?x?xf64, #CSR>
  %b = partition.set_slice %a, %slice processor_id %me, %c0 grid_size %grid#0, %grid#1 slice_id %me, %c0
    : (tensor<?x?xf64, #Rows>, tensor<?x?xf64, #CSR>, index, index, index, index, index, index) -> tensor<?x?xf64, #Rows>
  return %b : tensor<?x?xf64, #Rows>
}
