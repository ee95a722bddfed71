//! Kinds of operations: one small number for every operation the table has.

use std::collections::HashMap;
use std::sync::LazyLock;

macro_rules! kinds {
    ($($variant:ident $name:literal,)*) => {
        /// What an operation is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the variants are the names of the operations")]
        #[repr(u8)]
        pub enum OpKind {
            $($variant,)*
            /// An operation that the table does not have; it is kept by its name.
            Unknown,
        }

        impl OpKind {
            /// Every kind of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The operation's name, dialect first.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Unknown => "unknown",
                }
            }
        }
    };
}

kinds! {
    // ndarray
    NdarrayDelete "ndarray.delete",
    NdarrayFromMemref "ndarray.from_memref",
    NdarrayToTensor "ndarray.to_tensor",
    NdarrayDim "ndarray.dim",
    NdarraySubview "ndarray.subview",
    NdarrayExtractSlice "ndarray.extract_slice",
    NdarrayInsertSlice "ndarray.insert_slice",
    NdarrayImmutableInsertSlice "ndarray.immutable_insert_slice",
    NdarrayLoad "ndarray.load",
    NdarrayCopy "ndarray.copy",
    NdarrayCast "ndarray.cast",
    NdarrayLinspace "ndarray.linspace",
    NdarrayCreate "ndarray.create",
    NdarrayReshape "ndarray.reshape",
    NdarrayEwBin "ndarray.ewbin",
    NdarrayEwUny "ndarray.ewuny",
    NdarrayReduction "ndarray.reduction",
    NdarrayCastElemtype "ndarray.cast_elemtype",
    NdarrayPermuteDims "ndarray.permute_dims",
    NdarrayWhere "ndarray.where",
    NdarrayCumulative "ndarray.cumulative",
    NdarrayIota "ndarray.iota",
    NdarrayRandom "ndarray.random",
    // dist
    DistInitDistArray "dist.init_dist_array",
    DistLocalOffsetsOf "dist.local_offsets_of",
    DistPartsOf "dist.parts_of",
    DistDefaultPartition "dist.default_partition",
    DistLocalTargetOfSlice "dist.local_target_of_slice",
    DistLocalBoundingBox "dist.local_bounding_box",
    DistLocalCore "dist.local_core",
    DistRepartition "dist.repartition",
    DistSubview "dist.subview",
    DistCheckedSlice "dist.checked_slice",
    DistEwBin "dist.ewbin",
    DistEwUny "dist.ewuny",
    DistWhere "dist.where",
    // distruntime
    RuntimeTeamSize "distruntime.team_size",
    RuntimeTeamMember "distruntime.team_member",
    RuntimeAllreduce "distruntime.allreduce",
    RuntimeGetHalo "distruntime.get_halo",
    RuntimeCopyReshape "distruntime.copy_reshape",
    RuntimeCopyPermute "distruntime.copy_permute",
    RuntimeWait "distruntime.wait",
    // region
    RegionEnvRegion "region.env_region",
    RegionEnvRegionYield "region.env_region_yield",
    // partition
    PartitionGetGridSize "partition.get_grid_size",
    PartitionGetSlice "partition.get_slice",
    PartitionSetSlice "partition.set_slice",
    // func
    FuncFunc "func.func",
    FuncReturn "func.return",
    FuncCall "func.call",
    // arith
    ArithConstant "arith.constant",
    ArithAddi "arith.addi",
    ArithSubi "arith.subi",
    ArithMuli "arith.muli",
    ArithDivsi "arith.divsi",
    ArithDivui "arith.divui",
    ArithCeildivsi "arith.ceildivsi",
    ArithFloordivsi "arith.floordivsi",
    ArithRemsi "arith.remsi",
    ArithRemui "arith.remui",
    ArithAndi "arith.andi",
    ArithOri "arith.ori",
    ArithXori "arith.xori",
    ArithShli "arith.shli",
    ArithShrsi "arith.shrsi",
    ArithShrui "arith.shrui",
    ArithMaxsi "arith.maxsi",
    ArithMinsi "arith.minsi",
    ArithMaxui "arith.maxui",
    ArithMinui "arith.minui",
    ArithAddf "arith.addf",
    ArithSubf "arith.subf",
    ArithMulf "arith.mulf",
    ArithDivf "arith.divf",
    ArithRemf "arith.remf",
    ArithMaximumf "arith.maximumf",
    ArithMinimumf "arith.minimumf",
    ArithNegf "arith.negf",
    ArithCmpi "arith.cmpi",
    ArithCmpf "arith.cmpf",
    ArithSelect "arith.select",
    ArithIndexCast "arith.index_cast",
    ArithIndexCastui "arith.index_castui",
    ArithExtsi "arith.extsi",
    ArithExtui "arith.extui",
    ArithTrunci "arith.trunci",
    ArithExtf "arith.extf",
    ArithTruncf "arith.truncf",
    ArithSitofp "arith.sitofp",
    ArithUitofp "arith.uitofp",
    ArithFptosi "arith.fptosi",
    ArithFptoui "arith.fptoui",
    // math
    MathAbsf "math.absf",
    MathAbsi "math.absi",
    MathAtan "math.atan",
    MathAtan2 "math.atan2",
    MathCeil "math.ceil",
    MathCos "math.cos",
    MathErf "math.erf",
    MathExp "math.exp",
    MathExpm1 "math.expm1",
    MathFloor "math.floor",
    MathLog "math.log",
    MathLog10 "math.log10",
    MathLog1p "math.log1p",
    MathLog2 "math.log2",
    MathPowf "math.powf",
    MathRound "math.round",
    MathSin "math.sin",
    MathSqrt "math.sqrt",
    MathTan "math.tan",
    MathTanh "math.tanh",
    MathTrunc "math.trunc",
    // scf
    ScfFor "scf.for",
    ScfIf "scf.if",
    ScfYield "scf.yield",
}

static BY_NAME: LazyLock<HashMap<&'static str, OpKind>> =
    LazyLock::new(|| OpKind::ALL.iter().map(|kind| (kind.name(), *kind)).collect());

impl OpKind {
    /// The kind of a name; [`OpKind::Unknown`] if the table does not have it.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        BY_NAME.get(name).copied().unwrap_or(Self::Unknown)
    }

    /// The dialect: what stands before the dot.
    #[must_use]
    pub fn dialect(self) -> &'static str {
        self.name().split('.').next().unwrap_or_default()
    }
}
