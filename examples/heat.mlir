// Heat flows through a plate: its edges keep their temperature, and in every step each point
// inside becomes the mean of its four neighbours.
//
//   partita run -n 3 examples/heat.mlir --arg 0=8                 run it on three ranks
//   partita opt examples/heat.mlir --pass default --form rfc      what the passes make of it
!plate = !ndarray.ndarray<16x16xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
!inside = !ndarray.ndarray<14x14xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
!edge = !ndarray.ndarray<1x16xf64, #dist.dist_env<team = 1 loffs = ?,? lparts = ?x?,?x?,?x?>>
!number = !ndarray.ndarray<f64, #dist.dist_env<team = 1>>

func.func @heat(%n_steps: index) -> !plate {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %cold = arith.constant 0.0 : f64
  %hot = arith.constant 100.0 : f64
  %quarter = arith.constant 0.25 : f64
  %plate = ndarray.create %c16, %c16 value %cold : (index, index, f64) -> !plate
  %edge = ndarray.create %c1, %c16 value %hot : (index, index, f64) -> !edge
  ndarray.insert_slice %edge into %plate[0, 0][1, 16][1, 1] : !edge into !plate
  %weight = ndarray.create value %quarter : (f64) -> !number
  scf.for %step = %c0 to %n_steps step %c1 {
    %up = ndarray.subview %plate[0, 1][14, 14][1, 1] : !plate to !inside
    %down = ndarray.subview %plate[2, 1][14, 14][1, 1] : !plate to !inside
    %left = ndarray.subview %plate[1, 0][14, 14][1, 1] : !plate to !inside
    %right = ndarray.subview %plate[1, 2][14, 14][1, 1] : !plate to !inside
    %vertical = ndarray.ewbin add %up, %down : (!inside, !inside) -> !inside
    %across = ndarray.ewbin add %left, %right : (!inside, !inside) -> !inside
    %sum = ndarray.ewbin add %vertical, %across : (!inside, !inside) -> !inside
    %mean = ndarray.ewbin mul %sum, %weight : (!inside, !number) -> !inside
    ndarray.insert_slice %mean into %plate[1, 1][14, 14][1, 1] : !inside into !plate
  }
  return %plate : !plate
}
