//! Rules of `dist` and `distruntime`.

use super::arrays::shape_of;
use super::{Check, VerifyError};
use crate::kind::OpKind;
use crate::module::Value;
use crate::types::{Size, Type};

impl Check<'_> {
    pub(super) fn dist(&mut self) {
        match self.module.kind(self.op) {
            OpKind::DistInitDistArray => self.init(),
            OpKind::DistLocalOffsetsOf => {
                self.result_count(shape_of(self.single("array")).len());
            }
            OpKind::DistPartsOf => self.parts(),
            OpKind::DistDefaultPartition => self.result_count(2 * self.group("g_shape").len()),
            OpKind::DistLocalTargetOfSlice => {
                let ndim = shape_of(self.single("array")).len();
                self.all_per_dim(&["offsets", "sizes", "strides"], ndim);
                self.result_count(2 * ndim);
            }
            OpKind::DistCheckedSlice => {
                let ndim = self.group("shape").len();
                self.all_per_dim(&["offsets", "sizes", "strides"], ndim);
                self.result_count(2 * ndim);
            }
            OpKind::DistLocalBoundingBox => {
                let ndim = self.group("offsets").len();
                self.all_per_dim(&["sizes", "strides", "t_offsets", "t_sizes"], ndim);
                self.box_or_none("bb_offsets", "bb_sizes", ndim);
                self.result_count(2 * ndim);
            }
            OpKind::DistLocalCore => {
                let ndim = shape_of(self.single("array")).len();
                let groups = ["t_offsets", "t_sizes", "s_offsets", "s_sizes", "s_strides"];
                self.all_per_dim(&groups, ndim);
                self.box_or_none("c_offsets", "c_sizes", ndim);
                self.result_count(2 * ndim);
            }
            OpKind::DistRepartition => self.repartition(),
            OpKind::DistSubview => {
                self.slicing();
                self.same_grid("source");
                let ndim = shape_of(self.single("source")).len();
                self.box_or_none("target_offsets", "target_sizes", ndim);
            }
            OpKind::DistEwBin => {
                self.ewbin();
                self.core();
            }
            OpKind::DistEwUny => {
                self.ewuny();
                self.core();
            }
            OpKind::DistWhere => {
                self.choosing();
                self.core();
            }
            OpKind::RuntimeGetHalo => self.get_halo(),
            OpKind::RuntimeCopyReshape | OpKind::RuntimeCopyPermute => self.copied(),
            _ => {}
        }
    }

    fn all_per_dim(&mut self, groups: &[&str], ndim: usize) {
        for group in groups {
            self.one_per_dim(group, ndim);
        }
    }

    fn box_or_none(&mut self, offsets: &str, sizes: &str, ndim: usize) {
        self.none_or_one_per_dim(offsets, ndim);
        self.none_or_one_per_dim(sizes, ndim);
        self.together(offsets, sizes);
    }

    /// Core offsets, core sizes and target offsets are there together.
    fn core(&mut self) {
        let ndim = shape_of(self.result()).len();
        self.box_or_none("core_offsets", "core_sizes", ndim);
        self.none_or_one_per_dim("target_offsets", ndim);
    }

    fn init(&mut self) {
        let result = self.result().clone();
        let ndim = shape_of(&result).len();
        self.one_per_dim("l_offset", ndim);
        let parts = self.group("parts").to_vec();
        let wanted = result.dist().map_or(1, crate::types::DistEnv::n_parts);
        if parts.len() != wanted && parts.len() != 1 {
            let (op, found) = (self.name(), parts.len());
            self.report(VerifyError::PartsCount { op, found, wanted });
        }
        self.pieces_of(&result, &parts);
    }

    fn parts(&mut self) {
        let array = self.single("array").clone();
        let parts = self.module.results(self.op).to_vec();
        let wanted = array.dist().map_or(1, crate::types::DistEnv::n_parts);
        if parts.len() != wanted {
            let (op, found) = (self.name(), parts.len());
            self.report(VerifyError::PartsCount { op, found, wanted });
        }
        self.pieces_of(&array, &parts);
        for (part, wanted) in parts.iter().zip(array.dist().map_or(&[][..], |env| &env.lparts)) {
            let shape = shape_of(self.ty(*part));
            // Of what is empty, the other sizes say nothing.
            if !wanted.contains(&Size::Known(0)) || !shape.contains(&Size::Known(0)) {
                self.same_shape("a local part", &shape, wanted);
            }
        }
    }

    /// Parts have the array's number of dimensions and element type.
    fn pieces_of(&mut self, array: &Type, parts: &[Value]) {
        let ndim = shape_of(array).len();
        for part in parts {
            let ty = self.ty(*part).clone();
            let shape = shape_of(&ty);
            if shape.len() != ndim {
                let wanted = vec![Size::Dynamic; ndim];
                self.same_shape("a local part", &shape, &wanted);
            }
            self.same_element(ty.element(), array.element());
        }
    }

    fn repartition(&mut self) {
        let (from, to) = (self.single("array").clone(), self.result().clone());
        self.same_shape("the result", &shape_of(&to), &shape_of(&from));
        self.same_element(to.element(), from.element());
        if !self.group("target_offsets").is_empty() {
            self.same_grid("array");
        }
        self.box_or_none("target_offsets", "target_sizes", shape_of(&from).len());
    }

    fn get_halo(&mut self) {
        let local = self.single("local").clone();
        let ndim = shape_of(&local).len();
        self.all_per_dim(&["g_shape", "l_offsets", "bb_offsets", "bb_sizes"], ndim);
        let halos = self.module.result_group(self.op, 1).to_vec();
        let possible = [2, 8, 26, 80, 242, 728];
        if !possible.contains(&halos.len()) {
            let (op, found) = (self.name(), halos.len() + 1);
            self.report(VerifyError::PartsCount { op, found, wanted: 3 });
        }
        self.pieces_of(&local, &halos);
        self.is_waited_for();
    }

    fn copied(&mut self) {
        let local = self.single("local").clone();
        self.all_per_dim(&["g_shape", "l_offsets"], shape_of(&local).len());
        let result = self.module.result_group(self.op, 1).to_vec();
        let ty = result.first().map_or(Type::None, |value| self.ty(*value).clone());
        self.same_element(ty.element(), local.element());
        self.all_per_dim(&["n_l_offsets", "n_l_shape"], shape_of(&ty).len());
        self.is_waited_for();
    }

    fn is_waited_for(&mut self) {
        let handle = self.module.results(self.op).first().copied();
        if handle.is_some_and(|handle| self.module.is_unused(handle)) {
            let op = self.name();
            self.report(VerifyError::HandleNotWaited { op });
        }
    }
}
