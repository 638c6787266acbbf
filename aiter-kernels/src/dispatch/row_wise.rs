use super::{Device, DispatchError, Launch};
use crate::catalogue::{DataType, Operation, instances};

/// The launch of an operation that works on the rows of a matrix: a gated activation shares a row out over work-groups, a norm does not.
/// `width` is the number of columns of the output.
///
/// # Errors
/// [`DispatchError::Target`], [`DispatchError::DataType`] (also for an operation that is not row-wise), [`DispatchError::Zero`] for a matrix
/// without rows or columns, [`DispatchError::Grid`].
pub fn row_wise(
    device: Device,
    operation: Operation,
    data_type: DataType,
    rows: u32,
    width: u32,
) -> Result<Launch, DispatchError> {
    let wmma = device.target.wmma().ok_or(DispatchError::Target { target: device.target })?;
    let columns = match operation {
        Operation::SiluAndMul | Operation::GeluAndMul | Operation::GeluTanhAndMul => true,
        Operation::RmsNorm | Operation::LayerNorm | Operation::Softmax => false,
        Operation::FmhaFwd | Operation::FmhaPaged | Operation::FmhaSplitKv | Operation::FmhaCombine => {
            return Err(DispatchError::DataType { operation, data_type: data_type.name() });
        }
    };
    for (argument, count) in [("rows", rows), ("width", width)] {
        if count == 0 {
            return Err(DispatchError::Zero { argument });
        }
    }
    let instance = instances(operation, wmma).find(|instance| instance.data_type == data_type);
    let instance = instance.ok_or(DispatchError::DataType { operation, data_type: data_type.name() })?;
    let tiles = if columns { width.div_ceil(instance.tile.n) } else { 1 };
    Launch::new(instance, [("rows", rows.into()), ("width", tiles.into()), ("planes", 1)])
}
