use super::plan::{KernelCall, Plan};
use crate::args::{ActivationArgs, NormArgs, QuantiseArgs};
use crate::catalogue::{DataType, Operation};
use crate::dispatch::{self, Device, Launch};
use crate::interface::check::{Rows, word};
use crate::interface::row_wise::{GatedActivation, Norm, NormKind, QuantisePerToken, RowSizes};
use crate::interface::{ElementType, Error, Tensor};
use crate::reference::Activation;

/// The launch of a gated activation.
pub(crate) fn gated_activation(
    call: &GatedActivation<'_>,
    sizes: &RowSizes<2>,
    device: Device,
) -> Result<Plan, Error> {
    let operation = match call.activation {
        Activation::Silu => Operation::SiluAndMul,
        Activation::Gelu => Operation::GeluAndMul,
        Activation::GeluTanh => Operation::GeluTanhAndMul,
    };
    let [out, input] = sizes.rows;
    let Some(launch) = launch(operation, sizes.element_type, out, device)? else {
        return Ok(Plan::default());
    };
    let arguments = ActivationArgs {
        out: call.out.0.memory.address(),
        input: call.input.memory.address(),
        out_row_stride: out.stride,
        input_row_stride: input.stride,
        width: width(out)?,
        reserved: 0,
    };
    Ok(Plan { calls: vec![KernelCall::new(launch, &arguments)], scratch: 0 })
}

/// The launch of a norm.
pub(crate) fn norm(call: &Norm<'_>, sizes: &RowSizes<4>, device: Device) -> Result<Plan, Error> {
    let operation = match call.kind {
        NormKind::Rms => Operation::RmsNorm,
        NormKind::Layer => Operation::LayerNorm,
        NormKind::Softmax => Operation::Softmax,
    };
    let [out, input, residual_in, residual_out] = sizes.rows;
    let Some(launch) = launch(operation, sizes.element_type, out, device)? else {
        return Ok(Plan::default());
    };
    let address = |tensor: Option<&Tensor>| tensor.map_or(0, |tensor| tensor.memory.address());
    let arguments = NormArgs {
        out: call.out.0.memory.address(),
        input: call.input.memory.address(),
        residual_in: address(call.residual.as_ref().map(|residual| &residual.input)),
        residual_out: address(call.residual.as_ref().map(|residual| &residual.out.0)),
        weight: address(call.weight.as_ref()),
        bias: address(call.bias.as_ref()),
        out_row_stride: out.stride,
        input_row_stride: input.stride,
        residual_in_row_stride: residual_in.stride,
        residual_out_row_stride: residual_out.stride,
        width: width(out)?,
        epsilon: call.epsilon,
    };
    Ok(Plan { calls: vec![KernelCall::new(launch, &arguments)], scratch: 0 })
}

/// The launch of a quantisation.
pub(crate) fn quantise_per_token(
    call: &QuantisePerToken<'_>,
    sizes: &RowSizes<2>,
    device: Device,
) -> Result<Plan, Error> {
    let operation = match call.out.0.element_type {
        ElementType::I8 => Operation::QuantiseInt8,
        _ => Operation::QuantiseE4m3,
    };
    let [out, input] = sizes.rows;
    let Some(launch) = launch(operation, sizes.element_type, out, device)? else {
        return Ok(Plan::default());
    };
    let arguments = QuantiseArgs {
        out: call.out.0.memory.address(),
        scales: call.scales.0.memory.address(),
        input: call.input.memory.address(),
        out_row_stride: out.stride,
        input_row_stride: input.stride,
        width: width(out)?,
        reserved: 0,
    };
    Ok(Plan { calls: vec![KernelCall::new(launch, &arguments)], scratch: 0 })
}

/// The catalogue's word for a float type that was checked.
pub(super) fn data_type(element_type: ElementType) -> DataType {
    match element_type {
        ElementType::Bf16 => DataType::Bf16,
        ElementType::F16 => DataType::F16,
        _ => DataType::F32,
    }
}

/// `None` for rows without elements.
pub(super) fn launch(
    operation: Operation,
    element_type: ElementType,
    rows: Rows,
    device: Device,
) -> Result<Option<Launch>, Error> {
    if rows.count == 0 || rows.width == 0 {
        return Ok(None);
    }
    let data_type = data_type(element_type);
    let count = word("out", "the number of rows", i64::try_from(rows.count).unwrap_or(i64::MAX))?;
    let launch =
        dispatch::row_wise(device, operation, data_type, count.unsigned_abs(), width(rows)?.unsigned_abs())?;
    Ok(Some(launch))
}

fn width(rows: Rows) -> Result<i32, Error> {
    word("out", "the width", i64::try_from(rows.width).unwrap_or(i64::MAX))
}
