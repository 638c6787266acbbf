use super::{Device, DispatchError, Launch};
use crate::catalogue::{DataType, Instance, Operation, instances};
use gfx::Wmma;

/// The launch of an operation that works on the rows of a matrix: a gated activation shares a row out over work-groups, a norm does not.
/// `width` is the number of columns of the output; of [`Operation::Rope`] a row is all heads of a token.
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
        Operation::QuantiseInt8 | Operation::QuantiseE4m3 | Operation::Rope => false,
        _ => return Err(DispatchError::DataType { operation, data_type: data_type.name() }),
    };
    not_zero([("rows", rows), ("width", width)])?;
    let instance = of_type(wmma, operation, data_type)?;
    let tiles = if columns { width.div_ceil(instance.tile.n) } else { 1 };
    Launch::new(instance, [("rows", rows.into()), ("width", tiles.into()), ("planes", 1)])
}

/// The launch of appendkv: one work-group for each new row, in a grid for the sequence with the most of them.
///
/// # Errors
/// [`DispatchError::Target`], [`DispatchError::DataType`], [`DispatchError::Zero`], [`DispatchError::Grid`].
pub fn append_kv(
    device: Device,
    data_type: DataType,
    max_added: u32,
    batch: u32,
) -> Result<Launch, DispatchError> {
    let wmma = device.target.wmma().ok_or(DispatchError::Target { target: device.target })?;
    not_zero([("max_added", max_added), ("batch", batch)])?;
    let instance = of_type(wmma, Operation::AppendKv, data_type)?;
    Launch::new(instance, [("max_added", max_added.into()), ("batch", batch.into()), ("planes", 1)])
}

fn not_zero(counts: [(&'static str, u32); 2]) -> Result<(), DispatchError> {
    match counts.into_iter().find(|(_, count)| *count == 0) {
        Some((argument, _)) => Err(DispatchError::Zero { argument }),
        None => Ok(()),
    }
}

fn of_type(
    wmma: Wmma,
    operation: Operation,
    data_type: DataType,
) -> Result<&'static Instance, DispatchError> {
    let found = instances(operation, wmma).find(|instance| instance.data_type == data_type);
    found.ok_or(DispatchError::DataType { operation, data_type: data_type.name() })
}
