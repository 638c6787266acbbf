//! The directory of tensors, checked against the bytes that the file has.

use super::cursor::Cursor;
use super::error::Error;
use super::kind::TensorType;
use std::collections::BTreeMap;

/// A tensor of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// How its numbers are stored.
    pub kind: TensorType,
    /// Sizes, fastest first: `[columns, rows, …]`. 1 to 4 of them, none is 0.
    pub sizes: Vec<u64>,
    /// Offset in bytes from the start of the data.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
}

/// Tensors by name.
pub type Tensors = BTreeMap<String, Tensor>;

/// Longest name: the format's own limit.
const NAME_LIMIT: u64 = 64;
/// A name of one byte, one size, a type and an offset.
const SMALLEST: u64 = 8 + 1 + 4 + 8 + 4 + 8;

/// Reads `count` entries of the directory.
pub(super) fn read(cursor: &mut Cursor<'_>, count: u64, alignment: u64) -> Result<Tensors, Error> {
    cursor.expect_room("tensors", count, SMALLEST)?;
    let mut tensors = Tensors::new();
    for _ in 0..count {
        let name = cursor.name("a tensor's name", NAME_LIMIT)?;
        let tensor = tensor(cursor, &name, alignment)?;
        if tensors.insert(name.clone(), tensor).is_some() {
            return Err(Error::Twice { what: "tensor", name });
        }
    }
    Ok(tensors)
}

fn tensor(cursor: &mut Cursor<'_>, name: &str, alignment: u64) -> Result<Tensor, Error> {
    let count = cursor.u32("a number of dimensions")?;
    if !(1..=4).contains(&count) {
        return Err(Error::Dimensions { name: name.to_owned(), count });
    }
    let sizes = (0..count).map(|_| cursor.u64("a size")).collect::<Result<Vec<_>, _>>()?;
    let id = cursor.u32("a tensor's type")?;
    let Some(kind) = TensorType::from_id(id) else {
        let known = TensorType::name_of(id).map_or_else(String::new, |known| format!(" ({known})"));
        return Err(Error::TensorType { name: name.to_owned(), id, known });
    };
    let size = size(name, kind, &sizes)?;
    let offset = cursor.u64("an offset")?;
    if !offset.is_multiple_of(alignment) {
        return Err(Error::Offset { name: name.to_owned(), offset, alignment });
    }
    Ok(Tensor { kind, sizes, offset, size })
}

/// The bytes of a tensor.
fn size(name: &str, kind: TensorType, sizes: &[u64]) -> Result<u64, Error> {
    let (numbers, bytes) = kind.block();
    let wrong = || Error::Sizes { name: name.to_owned(), sizes: sizes.to_vec() };
    let count = sizes.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
    let count = count.filter(|count| *count > 0 && i64::try_from(*count).is_ok()).ok_or_else(wrong)?;
    if !sizes[0].is_multiple_of(numbers as u64) {
        return Err(Error::Blocks { name: name.to_owned(), columns: sizes[0], block: numbers as u64 });
    }
    (count / numbers as u64).checked_mul(bytes as u64).ok_or_else(wrong)
}

/// Every tensor lies inside of `len` bytes of data, and no two share any.
pub(super) fn check_places(tensors: &Tensors, len: u64) -> Result<(), Error> {
    let mut places: Vec<_> = tensors.iter().collect();
    places.sort_by_key(|(_, tensor)| tensor.offset);
    for (name, tensor) in &places {
        if tensor.offset.checked_add(tensor.size).is_none_or(|end| end > len) {
            let (offset, size) = (tensor.offset, tensor.size);
            return Err(Error::OutOfFile { name: (*name).clone(), offset, size, len });
        }
    }
    for pair in places.windows(2) {
        let [(first, before), (second, after)] = pair else { continue };
        if before.offset + before.size > after.offset {
            return Err(Error::Overlap { first: (*first).clone(), second: (*second).clone() });
        }
    }
    Ok(())
}
