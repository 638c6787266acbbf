//! Metadata: values by key.

use super::cursor::Cursor;
use super::error::Error;
use std::collections::BTreeMap;

/// A value of the metadata. Integers of all widths are kept as 64 bits, floats as f64.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A float.
    Float(f64),
    /// A bool.
    Bool(bool),
    /// A text.
    Text(String),
    /// Integers.
    Integers(Vec<i64>),
    /// Floats, all of which came as f32 or f64.
    Floats(Vec<f32>),
    /// Bools.
    Bools(Vec<bool>),
    /// Texts.
    Texts(Vec<String>),
}

impl Value {
    /// What it is, for messages.
    pub fn kind(&self) -> String {
        match self {
            Self::Unsigned(value) => format!("{value}"),
            Self::Signed(value) => format!("{value}"),
            Self::Float(value) => format!("{value}"),
            Self::Bool(value) => format!("{value}"),
            Self::Text(text) => format!("the text {:?}", text.chars().take(40).collect::<String>()),
            Self::Integers(list) => format!("an array of {} integers", list.len()),
            Self::Floats(list) => format!("an array of {} floats", list.len()),
            Self::Bools(list) => format!("an array of {} bools", list.len()),
            Self::Texts(list) => format!("an array of {} texts", list.len()),
        }
    }
}

/// All values by key.
pub type Metadata = BTreeMap<String, Value>;

/// Longest key: the format's own limit.
const KEY_LIMIT: u64 = 65_535;
/// A key's length, a key of one byte, a type and a value of one byte.
const SMALLEST_PAIR: u64 = 8 + 1 + 4 + 1;

/// Reads `count` pairs.
pub(super) fn read(cursor: &mut Cursor<'_>, count: u64) -> Result<Metadata, Error> {
    cursor.expect_room("keys", count, SMALLEST_PAIR)?;
    let mut metadata = Metadata::new();
    for _ in 0..count {
        let key = cursor.name("a key", KEY_LIMIT)?;
        let id = cursor.u32("a value's type")?;
        let value = value(cursor, &key, id)?;
        if metadata.insert(key.clone(), value).is_some() {
            return Err(Error::Twice { what: "key", name: key });
        }
    }
    Ok(metadata)
}

fn value(cursor: &mut Cursor<'_>, key: &str, id: u32) -> Result<Value, Error> {
    Ok(match id {
        8 => Value::Text(cursor.text("a text")?),
        9 => array(cursor, key)?,
        7 => Value::Bool(bool_of(cursor, key)?),
        6 | 12 => Value::Float(float(cursor, id)?),
        0 | 2 | 4 | 10 => Value::Unsigned(integer(cursor, key, id)? as u64),
        _ => Value::Signed(integer(cursor, key, id)?),
    })
}

fn array(cursor: &mut Cursor<'_>, key: &str) -> Result<Value, Error> {
    let id = cursor.u32("an array's type")?;
    let count = cursor.u64("an array's length")?;
    let smallest = match id {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        8 | 10..=12 => 8,
        // Arrays of arrays are in the format, but no model has them, and a nest can be as deep as the stack.
        _ => return Err(Error::ValueType { key: key.to_owned(), id }),
    };
    cursor.expect_room("elements of an array", count, smallest)?;
    Ok(match id {
        8 => Value::Texts((0..count).map(|_| cursor.text("a text")).collect::<Result<_, _>>()?),
        7 => Value::Bools((0..count).map(|_| bool_of(cursor, key)).collect::<Result<_, _>>()?),
        6 | 12 => {
            Value::Floats((0..count).map(|_| Ok(float(cursor, id)? as f32)).collect::<Result<_, Error>>()?)
        }
        _ => Value::Integers((0..count).map(|_| integer(cursor, key, id)).collect::<Result<_, _>>()?),
    })
}

fn bool_of(cursor: &mut Cursor<'_>, key: &str) -> Result<bool, Error> {
    match cursor.bytes::<1>("a bool")? {
        [0] => Ok(false),
        [1] => Ok(true),
        [value] => Err(Error::Bool { key: key.to_owned(), value }),
    }
}

fn float(cursor: &mut Cursor<'_>, id: u32) -> Result<f64, Error> {
    match id {
        6 => Ok(f64::from(f32::from_le_bytes(cursor.bytes("a float")?))),
        _ => Ok(f64::from_le_bytes(cursor.bytes("a float")?)),
    }
}

/// An integer of any width. A u64 above i64 comes out negative here and whole again where it is cast back.
fn integer(cursor: &mut Cursor<'_>, key: &str, id: u32) -> Result<i64, Error> {
    const WHAT: &str = "an integer";
    Ok(match id {
        0 => u8::from_le_bytes(cursor.bytes(WHAT)?).into(),
        1 => i8::from_le_bytes(cursor.bytes(WHAT)?).into(),
        2 => u16::from_le_bytes(cursor.bytes(WHAT)?).into(),
        3 => i16::from_le_bytes(cursor.bytes(WHAT)?).into(),
        4 => u32::from_le_bytes(cursor.bytes(WHAT)?).into(),
        5 => i32::from_le_bytes(cursor.bytes(WHAT)?).into(),
        10 => u64::from_le_bytes(cursor.bytes(WHAT)?) as i64,
        11 => i64::from_le_bytes(cursor.bytes(WHAT)?),
        _ => return Err(Error::ValueType { key: key.to_owned(), id }),
    })
}
