//! Operations of `distruntime`, `region` and `partition`.

use super::Builder;
use crate::attr::Attr;
use crate::enums::Reduce;
use crate::kind::OpKind;
use crate::module::{Block, NewOp, Op, Value};
use crate::types::Type;

impl Builder<'_> {
    /// `distruntime.team_size`
    pub fn team_size(&mut self, team: Attr) -> Value {
        self.value(NewOp::new(OpKind::RuntimeTeamSize).attr("team", team).result(Type::INDEX))
    }

    /// `distruntime.team_member`
    pub fn team_member(&mut self, team: Attr) -> Value {
        self.value(NewOp::new(OpKind::RuntimeTeamMember).attr("team", team).result(Type::INDEX))
    }

    /// `distruntime.allreduce`
    pub fn allreduce(&mut self, op: Reduce, data: Value, team: Attr) -> Op {
        let new = NewOp::new(OpKind::RuntimeAllreduce).operands(&[data]).attr("team", team);
        self.insert(new.attr("op", Attr::i32(op as i32)))
    }

    /// `distruntime.get_halo`: global shape, offsets of `local`, the box; gives handle and halos.
    pub fn get_halo(
        &mut self,
        team: Attr,
        local: Value,
        [shape, offsets, box_offsets, box_sizes]: [&[Value]; 4],
        halos: &[Type],
    ) -> (Value, Vec<Value>) {
        let groups = [&[local], shape, offsets, box_offsets, box_sizes];
        let new = NewOp::new(OpKind::RuntimeGetHalo).groups(&groups).attr("team", team);
        let new = new.attr("key", Attr::i64(-1)).result(Type::Handle).results(halos.to_vec());
        let op = self.insert(new);
        let results = self.module().results(op);
        (results[0], results[1..].to_vec())
    }

    /// `distruntime.wait`
    pub fn wait(&mut self, handle: Value) -> Op {
        self.insert(NewOp::new(OpKind::RuntimeWait).operands(&[handle]))
    }

    /// `distruntime.copy_reshape`: global shape and offsets before; global shape, offsets and
    /// local shape after.
    pub fn copy_reshape(
        &mut self,
        team: Attr,
        local: Value,
        [shape, offsets, new_shape, new_offsets, new_local]: [&[Value]; 5],
        result: Type,
    ) -> (Value, Value) {
        let groups = [&[local], shape, offsets, new_shape, new_offsets, new_local];
        self.started(NewOp::new(OpKind::RuntimeCopyReshape).groups(&groups), team, result)
    }

    /// `distruntime.copy_permute`: global shape and offsets before; offsets and local shape after.
    pub fn copy_permute(
        &mut self,
        team: Attr,
        axes: &[i64],
        local: Value,
        [shape, offsets, new_offsets, new_local]: [&[Value]; 4],
        result: Type,
    ) -> (Value, Value) {
        let groups = [&[local], shape, offsets, new_offsets, new_local];
        let new = NewOp::new(OpKind::RuntimeCopyPermute).groups(&groups);
        self.started(new.attr("axes", Attr::i64s(axes)), team, result)
    }

    fn started(&mut self, new: NewOp, team: Attr, result: Type) -> (Value, Value) {
        let op = self.insert(new.attr("team", team).result(Type::Handle).result(result));
        let results = self.module().results(op);
        (results[0], results[1])
    }

    /// `region.env_region` with an empty block.
    pub fn env_region(&mut self, environment: Attr, results: &[Type]) -> (Op, Block) {
        let new = NewOp::new(OpKind::RegionEnvRegion).attr("environment", environment);
        let op = self.insert(new.results(results.to_vec()).region(&[]));
        (op, self.module().regions(op)[0])
    }

    /// `region.env_region_yield`
    pub fn env_region_yield(&mut self, values: &[Value]) -> Op {
        self.insert(NewOp::new(OpKind::RegionEnvRegionYield).operands(values))
    }

    /// `partition.get_grid_size`
    pub fn get_grid_size(&mut self, ndim: usize) -> Vec<Value> {
        let new = NewOp::new(OpKind::PartitionGetGridSize);
        let op = self.insert(new.results(vec![Type::INDEX; ndim]));
        self.module().results(op).to_vec()
    }

    /// `partition.get_slice`
    pub fn get_slice(
        &mut self,
        tensor: Value,
        [member, grid, slice]: [&[Value]; 3],
        result: Type,
    ) -> Value {
        let groups = [&[tensor], member, grid, slice];
        self.value(NewOp::new(OpKind::PartitionGetSlice).groups(&groups).result(result))
    }

    /// `partition.set_slice`
    pub fn set_slice(
        &mut self,
        tensor: Value,
        new_slice: Value,
        [member, grid, slice]: [&[Value]; 3],
    ) -> Value {
        let ty = self.ty(tensor);
        let groups = [&[tensor], &[new_slice][..], member, grid, slice];
        self.value(NewOp::new(OpKind::PartitionSetSlice).groups(&groups).result(ty))
    }
}
