use super::check::{Rows, element_type, one_place, rows, shape};
use super::tensor_io::{Stored, with_float};
use super::{ElementType, Error, Place, Tensor, TensorMut};
use crate::reference::{self, NormInputs, Quantised};

pub use crate::reference::Activation;

const FLOATS: [ElementType; 3] = [ElementType::Bf16, ElementType::F16, ElementType::F32];

/// `out = f(input[..., :width]) * input[..., width:]`.
#[derive(Clone)]
pub struct GatedActivation<'a> {
    /// The function.
    pub activation: Activation,
    /// `[..., width]`.
    pub out: TensorMut<'a>,
    /// `[..., 2 width]`: the gate, then the factor.
    pub input: Tensor<'a>,
}

/// Which norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormKind {
    /// Over the root of the mean square.
    Rms,
    /// Less the mean, over the root of the variance.
    Layer,
    /// `e^x` over its sum; takes neither a weight nor a residual.
    Softmax,
}

/// What is added to the input of a norm before it.
#[derive(Clone)]
pub struct Residual<'a> {
    /// As the norm's output.
    pub input: Tensor<'a>,
    /// As the norm's output: becomes the sum. It may be the memory of `input`, or that of the norm's input.
    pub out: TensorMut<'a>,
}

/// `out = norm(input + residual) * weight + bias`, row by row.
#[derive(Clone)]
pub struct Norm<'a> {
    /// Which one.
    pub kind: NormKind,
    /// `[..., width]`.
    pub out: TensorMut<'a>,
    /// As out.
    pub input: Tensor<'a>,
    /// What is added to the input first.
    pub residual: Option<Residual<'a>>,
    /// `[width]`; `None`: ones.
    pub weight: Option<Tensor<'a>>,
    /// `[width]`; `None`: zeros.
    pub bias: Option<Tensor<'a>>,
    /// Added below the root.
    pub epsilon: f32,
}

/// Each row over its own scale: upstream's `dynamic_per_token_scaled_quant`.
#[derive(Clone)]
pub struct QuantisePerToken<'a> {
    /// `[..., width]`, i8 or e4m3.
    pub out: TensorMut<'a>,
    /// As out, of floats.
    pub input: Tensor<'a>,
    /// One f32 a row, contiguous.
    pub scales: TensorMut<'a>,
}

/// The sizes of a call that was checked; the rows of each tensor in the order of its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowSizes<const N: usize> {
    pub(super) place: Place,
    pub(super) element_type: ElementType,
    pub(super) rows: [Rows; N],
}

impl GatedActivation<'_> {
    /// The rows of out and of input.
    pub(super) fn check(&self) -> Result<RowSizes<2>, Error> {
        let Self { out, input, .. } = self;
        out.check("out")?;
        input.check("input")?;
        let place = one_place(&[("input", input), ("out", &out.0)])?;
        let own = element_type("input", input, &FLOATS)?;
        element_type("out", &out.0, &[own])?;
        let (out_rows, input_rows) = (rows("out", &out.0)?, rows("input", input)?);
        let mut expected = out.0.shape.clone();
        if let Some(width) = expected.last_mut() {
            *width = width.saturating_mul(2);
        }
        shape("input", input, &expected)?;
        Ok(RowSizes { place, element_type: own, rows: [out_rows, input_rows] })
    }

    /// Computes on the host.
    pub(super) fn compute(&self, sizes: &RowSizes<2>) -> Result<(), Error> {
        let Rows { count, width, .. } = sizes.rows[0];
        let out = with_float!("input", self.input, T => {
            Ok(reference::gated_activation(self.activation, &self.input.read::<T>(), count, width)?)
        })?;
        self.out.write(&out)
    }
}

impl Norm<'_> {
    /// The rows of out, input, and the residual before and after.
    pub(super) fn check(&self) -> Result<RowSizes<4>, Error> {
        let Self { kind, out, input, residual, weight, bias, epsilon } = self;
        let residual = residual.as_ref();
        let tensors = [
            Some(("input", input)),
            Some(("out", &out.0)),
            residual.map(|residual| ("residual_in", &residual.input)),
            residual.map(|residual| ("residual_out", &residual.out.0)),
            weight.as_ref().map(|weight| ("weight", weight)),
            bias.as_ref().map(|bias| ("bias", bias)),
        ];
        let tensors: Vec<_> = tensors.into_iter().flatten().collect();
        tensors.iter().try_for_each(|(argument, tensor)| tensor.check(argument))?;
        out.check("out")?;
        residual.map_or(Ok(()), |residual| residual.out.check("residual_out"))?;
        let place = one_place(&tensors)?;
        let own = element_type("input", input, &FLOATS)?;
        tensors.iter().try_for_each(|(argument, tensor)| element_type(argument, tensor, &[own]).map(drop))?;
        let out_rows = rows("out", &out.0)?;
        shape("input", input, &out.0.shape)?;
        if let Some(residual) = residual {
            shape("residual_in", &residual.input, &out.0.shape)?;
            shape("residual_out", &residual.out.0, &out.0.shape)?;
        }
        for (argument, tensor) in [("weight", weight), ("bias", bias)] {
            tensor.as_ref().map_or(Ok(()), |tensor| shape(argument, tensor, &[out_rows.width]))?;
            if *kind == NormKind::Softmax && tensor.is_some() {
                return Err(Error::Unsupported { argument, reason: "softmax takes none".into() });
            }
        }
        if *kind == NormKind::Softmax && residual.is_some() {
            return Err(Error::Unsupported { argument: "residual_in", reason: "softmax takes none".into() });
        }
        if !(epsilon.is_finite() && *epsilon >= 0.0) {
            let (expected, found) = ("0 or a positive number".to_owned(), epsilon.to_string());
            return Err(Error::Value { argument: "epsilon", expected, found });
        }
        let residual_in = residual.map_or(Ok(out_rows), |residual| rows("residual_in", &residual.input))?;
        let residual_out = residual.map_or(Ok(out_rows), |residual| rows("residual_out", &residual.out.0))?;
        let rows = [out_rows, rows("input", input)?, residual_in, residual_out];
        Ok(RowSizes { place, element_type: own, rows })
    }

    /// Computes on the host.
    pub(super) fn compute(&self, sizes: &RowSizes<4>) -> Result<(), Error> {
        with_float!("input", self.input, T => self.compute_as::<T>(sizes.rows[0].width))
    }

    fn compute_as<T: Stored>(&self, width: usize) -> Result<(), Error> {
        let epsilon = self.epsilon;
        let norm = match self.kind {
            NormKind::Rms => reference::Norm::Rms { epsilon },
            NormKind::Layer => reference::Norm::Layer { epsilon },
            NormKind::Softmax => reference::Norm::Softmax,
        };
        let (weight, bias) =
            (self.weight.as_ref().map(Tensor::read::<T>), self.bias.as_ref().map(Tensor::read::<T>));
        let residual = self.residual.as_ref().map(|residual| residual.input.read::<T>());
        let inputs = NormInputs {
            input: &self.input.read::<T>(),
            residual: residual.as_deref(),
            weight: weight.as_deref(),
            bias: bias.as_deref(),
        };
        let (out, sum) = reference::norm(norm, inputs, width)?;
        self.out.write(&out)?;
        self.residual.as_ref().map_or(Ok(()), |residual| residual.out.write(&sum))
    }
}

impl QuantisePerToken<'_> {
    /// The rows of out and of input.
    pub(super) fn check(&self) -> Result<RowSizes<2>, Error> {
        let Self { out, input, scales } = self;
        out.check("out")?;
        input.check("input")?;
        scales.check("scales")?;
        let place = one_place(&[("input", input), ("out", &out.0), ("scales", &scales.0)])?;
        let own = element_type("input", input, &FLOATS)?;
        element_type("out", &out.0, &[ElementType::I8, ElementType::E4m3])?;
        element_type("scales", &scales.0, &[ElementType::F32])?;
        let (out_rows, input_rows) = (rows("out", &out.0)?, rows("input", input)?);
        shape("input", input, &out.0.shape)?;
        let is_dense = rows("scales", &scales.0.flat())?.stride <= 1;
        if scales.0.len() != out_rows.count || !is_dense {
            let expected = format!("[{}], contiguous", out_rows.count);
            return Err(Error::Shape { argument: "scales", expected, found: scales.0.shape.clone() });
        }
        Ok(RowSizes { place, element_type: own, rows: [out_rows, input_rows] })
    }

    /// Computes on the host.
    pub(super) fn compute(&self, sizes: &RowSizes<2>) -> Result<(), Error> {
        let format = match self.out.0.element_type {
            ElementType::I8 => Quantised::Int8,
            _ => Quantised::E4m3,
        };
        let (out, scales) = with_float!("input", self.input, T => {
            Ok(reference::quantise_per_token(format, &self.input.read::<T>(), sizes.rows[0].width)?)
        })?;
        self.out.write_bytes(&out);
        self.scales.write(&scales)
    }
}

impl Tensor<'_> {
    /// Itself with a last dimension of one element, so that all others are rows.
    fn flat(&self) -> Self {
        let mut flat = self.clone();
        flat.shape.push(1);
        flat.strides.push(1);
        flat
    }
}
