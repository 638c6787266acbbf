//! The rules that arguments are held to before anything is computed or launched.

use super::{ElementType, Error, Place, Tensor};

/// What a load of the kernels takes at once.
const VECTOR: u64 = 16;

/// All tensors of a call in one place.
pub(super) fn one_place(tensors: &[(&'static str, &Tensor)]) -> Result<Place, Error> {
    let place = tensors.first().map_or(Place::Host, |(_, tensor)| tensor.place());
    match tensors.iter().find(|(_, tensor)| tensor.place() != place) {
        None => Ok(place),
        Some((argument, tensor)) => {
            Err(Error::Device { argument, expected: place.to_string(), found: tensor.place().to_string() })
        }
    }
}

/// One of these types.
pub(super) fn element_type(
    argument: &'static str,
    tensor: &Tensor,
    allowed: &[ElementType],
) -> Result<ElementType, Error> {
    if allowed.contains(&tensor.element_type) {
        return Ok(tensor.element_type);
    }
    let names: Vec<_> = allowed.iter().map(|t| t.name()).collect();
    Err(Error::Type { argument, expected: names.join(" or "), found: tensor.element_type.name() })
}

/// Exactly this shape; `expected` says it in words, with the numbers.
pub(super) fn shape(argument: &'static str, tensor: &Tensor, expected: &[usize]) -> Result<(), Error> {
    if tensor.shape == expected {
        return Ok(());
    }
    Err(Error::Shape { argument, expected: format!("{expected:?}"), found: tensor.shape.clone() })
}

/// As many dimensions as `N`; `expected` names them.
pub(super) fn dims<const N: usize>(
    argument: &'static str,
    tensor: &Tensor,
    expected: &str,
) -> Result<[usize; N], Error> {
    tensor.shape.as_slice().try_into().map_err(|_| Error::Shape {
        argument,
        expected: expected.to_owned(),
        found: tensor.shape.clone(),
    })
}

/// An address and strides that vector loads take; dimensions of one element have no stride.
pub(super) fn aligned(argument: &'static str, tensor: &Tensor) -> Result<(), Error> {
    let error = |what, found| Err(Error::Alignment { argument, what, expected: VECTOR, found });
    let address = tensor.memory.address();
    if tensor.len() > 0 && !address.is_multiple_of(VECTOR) {
        return error("the address", address);
    }
    let outer = tensor.shape.len().saturating_sub(1);
    for (&size, &stride) in tensor.shape[..outer].iter().zip(&tensor.strides) {
        let bytes = stride.unsigned_abs().saturating_mul(tensor.element_type.size() as u64);
        if size > 1 && !bytes.is_multiple_of(VECTOR) {
            return error("each stride but the last", bytes);
        }
    }
    Ok(())
}

/// A tensor as rows: their number, their width, and the elements from one to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) count: usize,
    pub(super) width: usize,
    pub(super) stride: i64,
}

/// The outer dimensions as one, which takes strides that agree.
pub(super) fn rows(argument: &'static str, tensor: &Tensor) -> Result<Rows, Error> {
    let Some((&width, outer)) = tensor.shape.split_last() else {
        let expected = "[..., width]".to_owned();
        return Err(Error::Shape { argument, expected, found: Vec::new() });
    };
    let mut count = 1;
    let mut stride = None;
    for (&size, &step) in outer.iter().zip(&tensor.strides).rev() {
        if size == 1 {
            continue;
        }
        match stride {
            None => stride = Some(step),
            Some(first) if step == first.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX)) => {}
            Some(_) => {
                let expected = "rows at equal distances";
                return Err(Error::Stride { argument, expected, found: tensor.strides.clone() });
            }
        }
        count *= size;
    }
    let own = i64::try_from(width).unwrap_or(i64::MAX);
    Ok(Rows { count, width, stride: stride.unwrap_or(own) })
}

/// The first two dimensions of four as rows at equal distances.
pub(super) fn tokens(argument: &'static str, tensor: &Tensor) -> Result<Rows, Error> {
    let mut outer = tensor.clone();
    outer.shape.truncate(2);
    outer.strides.truncate(2);
    outer.shape.push(1);
    outer.strides.push(1);
    rows(argument, &outer).map_err(|error| match error {
        Error::Stride { argument, expected, .. } => {
            Error::Stride { argument, expected, found: tensor.strides.clone() }
        }
        other => other,
    })
}

/// What is read without strides.
pub(super) fn dense(argument: &'static str, tensor: &Tensor) -> Result<(), Error> {
    let rows = rows(argument, tensor)?;
    if rows.count > 1 && usize::try_from(rows.stride).ok() != Some(rows.width) {
        let expected = "no gaps between rows";
        return Err(Error::Stride { argument, expected, found: tensor.strides.clone() });
    }
    Ok(())
}

/// A number that a kernel takes as a signed word.
pub(super) fn word(argument: &'static str, what: &'static str, value: i64) -> Result<i32, Error> {
    let limit = i32::MAX as u64;
    i32::try_from(value).map_err(|_| Error::Offset { argument, what, found: value.unsigned_abs(), limit })
}

/// A tensor whose bytes 32-bit offsets reach (facts/aiter_ck.md 5.8, row 20).
pub(super) fn reachable(argument: &'static str, tensor: &Tensor) -> Result<(), Error> {
    let (found, limit) = (tensor.reach(), i32::MAX as u64);
    match found > limit {
        true => Err(Error::Offset { argument, what: "its size in bytes", found, limit }),
        false => Ok(()),
    }
}
