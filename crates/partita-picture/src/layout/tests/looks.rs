//! Pictures as they must look, character by character.

use super::{boxes, layout, lists};
use crate::layout::{TextStyle, text};
use partita_layout::{BoxPiece, Layout};

fn check(layout: &Layout, wanted: &str) {
    let found = text(layout, TextStyle::default());
    assert_eq!(found, wanted.trim_matches('\n'), "\n{found}\n");
}

#[test]
fn scalars_are_one_cell() {
    let wanted = "
()  1 rank

A

A  rank 0  local ()  owns 1
";
    check(&layout(&[], ""), wanted);
}

#[test]
fn strips_show_every_index() {
    let wanted = "
10  block(last) @ 4  4 ranks

0   2   4     7
A A B B C C C D D D

A  rank 0 at (0)  local 2  owns 2
B  rank 1 at (1)  local 2  owns 2
C  rank 2 at (2)  local 3  owns 3
D  rank 3 at (3)  local 3  owns 3
";
    check(&layout(&[10], "block(last) @ 4"), wanted);
}

#[test]
fn block_cyclic_in_two_dimensions() {
    let wanted = "
4x8  block, cyclic(2) @ 2x2  4 ranks

   0   2   4   6
0  A A B B A A B B
1  A A B B A A B B
2  C C D D C C D D
3  C C D D C C D D

A  rank 0 at (0, 0)  local 2x4  owns 8
B  rank 1 at (0, 1)  local 2x4  owns 8
C  rank 2 at (1, 0)  local 2x4  owns 8
D  rank 3 at (1, 1)  local 2x4  owns 8
";
    check(&layout(&[4, 8], "block, cyclic(2) @ 2x2"), wanted);
}

#[test]
fn empty_blocks_stand_in_the_legend_only() {
    let wanted = "
7  block(3,0,4) @ 3 on 5..8  3 ranks

0     3
A A A C C C C

A  rank 5 at (0)  local 3  owns 3
B  rank 6 at (1)  local 0  owns 0
C  rank 7 at (2)  local 4  owns 4
";
    check(&layout(&[7], "block(3,0,4) @ 3 on 5..8"), wanted);
}

#[test]
fn empty_arrays_say_so() {
    let wanted = "
4x0  block, * @ 2  2 ranks

empty: dimension 1 has extent 0

A  rank 0 at (0)  local 2x0  owns 0
B  rank 1 at (1)  local 2x0  owns 0
";
    check(&layout(&[4, 0], "block, * @ 2"), wanted);
}

#[test]
fn halos_are_marked_around_the_end_too() {
    let wanted = "
9  block+halo(1,0)+periodic @ 3  3 ranks

0     3     6
A A A'B B B'C C C'

A  rank 0 at (0)  local 4  owns 3
B  rank 1 at (1)  local 4  owns 3
C  rank 2 at (2)  local 4  owns 3
'  in a halo too
";
    check(&layout(&[9], "block+halo(1,0)+periodic @ 3"), wanted);
}

#[test]
fn thin_halos_of_long_blocks_have_their_own_cells() {
    let wanted = "
1000000  block+halo(1,1) @ 2  2 ranks

0                     500000
A A A A A A A A A A A'B'B B B B B B B B B B

a cell is up to 50000 elements

A  rank 0 at (0)  local 500001  owns 500000
B  rank 1 at (1)  local 500001  owns 500000
'  in a halo too
";
    check(&layout(&[1_000_000], "block+halo(1,1) @ 2"), wanted);
}

#[test]
fn replicas_share_a_letter() {
    let wanted = "
2x4  *, block @ 2x2  4 ranks

   0   2
0  A A B B
1  A A B B

A  ranks 0,2 at (0-1, 0)  local 2x2  owns 4
B  ranks 1,3 at (0-1, 1)  local 2x2  owns 4
ranks joined by , or - hold the same elements
";
    check(&layout(&[2, 4], "*, block @ 2x2"), wanted);
}

#[test]
fn summands_are_joined_by_plus() {
    let wanted = "
3  * @ 2 partial 0  2 ranks

0
A A A

A  ranks 0+1 at (0+1)  local 3  owns 3
ranks joined by + hold summands of the same elements
";
    check(&layout(&[3], "* @ 2 partial 0"), wanted);
}

#[test]
fn more_dimensions_are_slices() {
    let wanted = "
4x2x2  cyclic(2), *, block @ 2x2  4 ranks

[0, :, :]
   0 1
0  A B
1  A B

[2, :, :]
   0 1
0  C D
1  C D

A  rank 0 at (0, 0)  local 2x2x1  owns 4
B  rank 1 at (0, 1)  local 2x2x1  owns 4
C  rank 2 at (1, 0)  local 2x2x1  owns 4
D  rank 3 at (1, 1)  local 2x2x1  owns 4
";
    check(&layout(&[4, 2, 2], "cyclic(2), *, block @ 2x2"), wanted);
}

#[test]
fn lists_are_sorted_and_show_their_indices() {
    let wanted = "
6  unstructured(3 lists) @ 3  3 ranks

-3  0   7   8   41  100
A   C   A'  B   B   A

A  rank 0 at (0)  local 3  owns 3
B  rank 1 at (1)  local 3  owns 2
C  rank 2 at (2)  local 1  owns 1
'  held by another rank too
";
    check(&lists(&[vec![7, -3, 100], vec![8, 7, 41], vec![0]], 6), wanted);
}

#[test]
fn boxes_overlap_and_leave_holes() {
    let pieces = vec![
        vec![BoxPiece::new(&[0, 0], &[2, 3]), BoxPiece::new(&[2, 4], &[1, 1])],
        vec![BoxPiece::new(&[0, 2], &[2, 3])],
        vec![],
    ];
    let wanted = "
3x5  boxes @ 3  3 ranks

   0   2 3 4
0  A A A'B B
1  A A A'B B
2  . . . . A

A  rank 0  local 2x3, 1x1  owns 7
B  rank 1  local 2x3  owns 4
C  rank 2  local none  owns 0
'  held by another rank too
.  owned by nobody
";
    check(&boxes(&[3, 5], pieces), wanted);
}

#[test]
fn many_ranks_are_numbers_in_a_window() {
    let wanted = "
4194304  cyclic(4) @ 1048576  1048576 ranks

0       4       8       12      16      20      24              4194296 4194300
0       1       2       3       4       5       6       …       1048574 1048575

a cell is up to 4 elements
… stands for 4194268 of 4194304 indices of dimension 0

rank 0 at (0)  local 4  owns 4
rank 1 at (1)  local 4  owns 4
rank 2 at (2)  local 4  owns 4
rank 3 at (3)  local 4  owns 4
rank 4 at (4)  local 4  owns 4
rank 5 at (5)  local 4  owns 4
rank 6 at (6)  local 4  owns 4
rank 7 at (7)  local 4  owns 4
rank 8 at (8)  local 4  owns 4
rank 9 at (9)  local 4  owns 4
rank 10 at (10)  local 4  owns 4
rank 11 at (11)  local 4  owns 4
… and 1048564 more ranks
";
    check(&layout(&[1 << 22], "cyclic(4) @ 1048576"), wanted);
}
