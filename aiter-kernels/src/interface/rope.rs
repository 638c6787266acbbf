use super::check::{dense, dims, element_type, one_place, shape, tokens};
use super::tensor_io::{Stored, with_float};
use super::{ElementType, Error, Place, Tensor, TensorMut};
use crate::reference;

pub use crate::reference::RopeStyle;

/// The tables of a rotary embedding and how they are used. Upstream's layout with `reuse_freqs_front_part`.
#[derive(Clone)]
pub struct RopeTables<'a> {
    /// `[positions, rotary dim / 2]`, of f32, without gaps; upstream's `[positions, 1, 1, rotary dim / 2]` is taken as well.
    pub cos: Tensor<'a>,
    /// As cos.
    pub sin: Tensor<'a>,
    /// Which elements belong together.
    pub style: RopeStyle,
    /// Whether the elements that are not rotated come first in a head.
    pub nope_first: bool,
}

/// Rotates the heads of `input`, `[s, b, h, d]` with rows at equal distances, by their positions; `out` may be the same memory.
#[derive(Clone)]
pub struct Rope<'a> {
    /// As input.
    pub out: TensorMut<'a>,
    /// `[s, b, h, d]`.
    pub input: Tensor<'a>,
    /// The tables.
    pub tables: RopeTables<'a>,
    /// `[s, b]`, i32, without gaps; `None`: each row has its own number along s.
    pub positions: Option<Tensor<'a>>,
}

const FLOATS: [ElementType; 3] = [ElementType::Bf16, ElementType::F16, ElementType::F32];

impl RopeTables<'_> {
    /// Checks the tables and gives the rotary dim.
    pub(super) fn check(&self) -> Result<usize, Error> {
        let Self { cos, sin, .. } = self;
        cos.check("cos")?;
        sin.check("sin")?;
        for (argument, table) in [("cos", cos), ("sin", sin)] {
            element_type(argument, table, &[ElementType::F32])?;
            dense(argument, table)?;
        }
        let wrong = || Error::Shape {
            argument: "cos",
            expected: "[positions, rotary_dim / 2]".into(),
            found: cos.shape.clone(),
        };
        let [_, between @ .., half] = cos.shape.as_slice() else { return Err(wrong()) };
        if between.iter().any(|&size| size != 1) {
            return Err(wrong());
        }
        shape("sin", sin, &cos.shape)?;
        Ok(half.saturating_mul(2))
    }

    /// Runs `f` with the tables, of the host.
    pub(super) fn with<R>(&self, f: impl FnOnce(reference::Rope<'_, f32>) -> R) -> R {
        let (cos, sin) = (self.cos.read::<f32>(), self.sin.read::<f32>());
        let rotary_dim = self.cos.shape.last().map_or(0, |half| half * 2);
        let Self { style, nope_first, .. } = *self;
        f(reference::Rope { cos: &cos, sin: &sin, rotary_dim, style, nope_first })
    }
}

impl Rope<'_> {
    /// Every rule that does not depend on the content of a tensor.
    pub(super) fn check(&self) -> Result<Place, Error> {
        let Self { out, input, tables, positions } = self;
        out.check("out")?;
        input.check("input")?;
        let rotary_dim = tables.check()?;
        let mut tensors = vec![("input", input), ("out", &out.0), ("cos", &tables.cos), ("sin", &tables.sin)];
        tensors.extend(positions.iter().map(|positions| ("positions", positions)));
        let place = one_place(&tensors)?;
        let own = element_type("input", input, &FLOATS)?;
        element_type("out", &out.0, &[own])?;
        let [s, b, _, head_dim] = dims("input", input, "[s, b, heads, head_dim]")?;
        shape("out", &out.0, &input.shape)?;
        tokens("input", input)?;
        tokens("out", &out.0)?;
        if rotary_dim > head_dim {
            let (expected, found) = (format!("at most {} columns", head_dim / 2), tables.cos.shape.clone());
            return Err(Error::Shape { argument: "cos", expected, found });
        }
        match positions {
            None if tables.cos.shape[0] < s => {
                let (expected, found) = (format!("at least {s} positions"), tables.cos.shape.clone());
                return Err(Error::Shape { argument: "cos", expected, found });
            }
            None => {}
            Some(positions) => {
                positions.check("positions")?;
                element_type("positions", positions, &[ElementType::I32])?;
                shape("positions", positions, &[s, b])?;
                dense("positions", positions)?;
            }
        }
        Ok(place)
    }

    /// Computes on the host.
    pub(super) fn compute(&self) -> Result<(), Error> {
        with_float!("input", self.input, T => self.compute_as::<T>())
    }

    fn compute_as<T: Stored>(&self) -> Result<(), Error> {
        let [s, b, heads, head_dim] = dims("input", &self.input, "[s, b, heads, head_dim]")?;
        let positions = match &self.positions {
            None => (0..s).flat_map(|row| std::iter::repeat_n(row, b)).collect(),
            Some(positions) => indices("positions", positions)?,
        };
        let input = self.input.read::<T>();
        let out = self.tables.with(|rope| reference::rope(&rope, &input, &positions, heads, head_dim))?;
        self.out.write(&out)
    }
}

/// The numbers of an integer tensor of the host, none of them negative.
pub(super) fn indices(argument: &'static str, tensor: &Tensor) -> Result<Vec<usize>, Error> {
    let index = |number: i64| {
        usize::try_from(number).map_err(|_| Error::Value {
            argument,
            expected: "numbers that are not negative".into(),
            found: number.to_string(),
        })
    };
    tensor.read_integers().into_iter().map(index).collect()
}
