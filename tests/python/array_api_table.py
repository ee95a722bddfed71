"""What the Array API 2025.12 names, as tables; parameters by position / either way | by name."""

UNARY = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor
    imag isfinite isinf isnan log log10 log1p log2 logical_not negative positive real reciprocal
    round sign signbit sin sinh sqrt square tan tanh trunc"""

BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
    copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp
    logical_and logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder
    subtract"""

OTHER = """
arange start / stop step | dtype device
asarray obj / | dtype device copy
empty / shape | dtype device
empty_like x / | dtype device
eye n_rows n_cols / | k dtype device
from_dlpack x / | device copy
full / shape fill_value | dtype device
full_like x / fill_value | dtype device
linspace start stop / num | dtype device endpoint
meshgrid x1 x2 / | indexing
ones / shape | dtype device
ones_like x / | dtype device
tril x / | k
triu x / | k
zeros / shape | dtype device
zeros_like x / | dtype device
astype x dtype / | copy device
can_cast from to / |
finfo type / |
iinfo type / |
isdtype / dtype kind |
result_type x1 x2 / |
clip x / min max |
take x indices / | axis
take_along_axis x indices / | axis
__array_namespace_info__ / |
matmul x1 x2 / |
matrix_transpose x / |
tensordot x1 x2 / | axes
vecdot x1 x2 / | axis
broadcast_arrays x1 x2 / |
broadcast_shapes x1 x2 / |
broadcast_to x / shape |
concat arrays / | axis
expand_dims x / axis |
flip x / | axis
moveaxis x source destination / |
permute_dims x / axes |
repeat x repeats / | axis
reshape x / shape | copy
roll x / shift | axis
squeeze x / axis |
stack arrays / | axis
tile x repetitions / |
unstack x / | axis
argmax x / | axis keepdims
argmin x / | axis keepdims
count_nonzero x / | axis keepdims
nonzero x / |
searchsorted x1 x2 / | side sorter
where condition x1 x2 / |
isin x1 x2 / | invert
unique_all x / |
unique_counts x / |
unique_inverse x / |
unique_values x / |
argsort x / | axis descending stable
sort x / | axis descending stable
cumulative_prod x / | axis dtype include_initial
cumulative_sum x / | axis dtype include_initial
max x / | axis keepdims
mean x / | axis keepdims
min x / | axis keepdims
prod x / | axis dtype keepdims
std x / | axis correction keepdims
sum x / | axis dtype keepdims
var x / | axis correction keepdims
all x / | axis keepdims
any x / | axis keepdims
diff x / | axis n prepend append
fft.fft x / | n axis norm
fft.ifft x / | n axis norm
fft.fftn x / | s axes norm
fft.ifftn x / | s axes norm
fft.rfft x / | n axis norm
fft.irfft x / | n axis norm
fft.rfftn x / | s axes norm
fft.irfftn x / | s axes norm
fft.hfft x / | n axis norm
fft.ihfft x / | n axis norm
fft.fftfreq n / | d dtype device
fft.rfftfreq n / | d dtype device
fft.fftshift x / | axes
fft.ifftshift x / | axes
linalg.cholesky x / | upper
linalg.cross x1 x2 / | axis
linalg.det x / |
linalg.diagonal x / | offset
linalg.eigh x / |
linalg.eigvalsh x / |
linalg.eig x / |
linalg.eigvals x / |
linalg.inv x / |
linalg.matmul x1 x2 / |
linalg.matrix_norm x / | keepdims ord
linalg.matrix_power x n / |
linalg.matrix_rank x / | rtol
linalg.matrix_transpose x / |
linalg.outer x1 x2 / |
linalg.pinv x / | rtol
linalg.qr x / | mode
linalg.slogdet x / |
linalg.solve x1 x2 / |
linalg.svd x / | full_matrices
linalg.svdvals x / |
linalg.tensordot x1 x2 / | axes
linalg.trace x / | offset dtype
linalg.vecdot x1 x2 / | axis
linalg.vector_norm x / | axis keepdims ord
"""

METHODS = """__abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__
    __dlpack_device__ __eq__ __float__ __floordiv__ __ge__ __getitem__ __gt__ __index__ __int__
    __invert__ __le__ __lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__
    __pow__ __rshift__ __setitem__ __sub__ __truediv__ __xor__ __radd__ __rsub__ __rmul__
    __rtruediv__ __rfloordiv__ __rmod__ __rpow__ __rmatmul__ __rand__ __ror__ __rxor__ __rlshift__
    __rrshift__ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ __imod__ __ipow__ __imatmul__
    __iand__ __ior__ __ixor__ __ilshift__ __irshift__ to_device"""
ATTRIBUTES = "T device dtype mT ndim shape size"

ROWS = [
    *(f"{name} x / |" for name in UNARY.split()),
    *(f"{name} x1 x2 / |" for name in BINARY.split()),
    *OTHER.strip().splitlines(),
]

# What two element types have together; the standard says nothing of integers with floats.
PROMOTED = """
bool bool bool
int8 int8 int8
int8 int16 int16
int8 int32 int32
int8 int64 int64
int16 int32 int32
int16 int64 int64
int32 int64 int64
uint8 uint8 uint8
uint8 uint16 uint16
uint8 uint32 uint32
uint8 uint64 uint64
uint16 uint32 uint32
uint16 uint64 uint64
uint32 uint64 uint64
int8 uint8 int16
int8 uint16 int32
int8 uint32 int64
int16 uint8 int16
int16 uint16 int32
int16 uint32 int64
int32 uint8 int32
int32 uint16 int32
int32 uint32 int64
int64 uint8 int64
int64 uint16 int64
int64 uint32 int64
float32 float32 float32
float32 float64 float64
float64 float64 float64
complex64 complex64 complex64
complex64 complex128 complex128
float32 complex64 complex64
float32 complex128 complex128
float64 complex64 complex128
float64 complex128 complex128
"""

# Function, operands, result, with the sign of zero.
SPECIAL = """
floor_divide inf 2 inf
floor_divide inf -2 -inf
floor_divide -inf 2 -inf
floor_divide -inf -2 inf
floor_divide 2 -inf -0
floor_divide -2 inf -0
floor_divide -2 -inf 0
floor_divide inf inf nan
floor_divide 1 -0 -inf
floor_divide -0 3 -0
floor_divide 0 0 nan
remainder 2 inf 2
remainder -2 -inf -2
remainder inf 2 nan
remainder 1 0 nan
remainder -0 2 0
remainder 0 -2 -0
remainder 2 -inf -inf
pow nan 0 1
pow 1 nan 1
pow -1 inf 1
pow -0 -1 -inf
pow -0 -2 inf
pow -inf 3 -inf
pow -inf -3 -0
pow -2 0.5 nan
pow 0.5 -inf inf
atan2 0 -0 3.141592653589793
atan2 -0 -0 -3.141592653589793
atan2 -0 0 -0
atan2 inf -inf 2.356194490192345
atan2 1 -inf 3.141592653589793
hypot inf nan inf
hypot nan -inf inf
hypot -0 0 0
logaddexp nan inf nan
logaddexp inf -inf inf
maximum nan 1 nan
minimum 1 nan nan
copysign nan -0 nan
copysign 3 -0 -3
nextafter 1 nan nan
divide 1 -0 -inf
divide 0 0 nan
divide inf -inf nan
divide -0 5 -0
add -0 -0 -0
add -0 0 0
add inf -inf nan
subtract 0 0 0
subtract -0 0 -0
multiply inf 0 nan
multiply -0 3 -0
"""
