//! Writes a GGUF file field by field, right or wrong.

/// A value of the metadata, with its type's number.
#[derive(Clone)]
pub(crate) enum Field {
    U32(u32),
    F32(f32),
    Text(&'static str),
    Texts(Vec<String>),
    Floats(Vec<f32>),
    Integers(Vec<i32>),
    /// A type's number and bytes: anything.
    Raw(u32, Vec<u8>),
}

/// A file in the making.
pub(crate) struct Builder {
    pub(crate) magic: [u8; 4],
    pub(crate) version: u32,
    pub(crate) tensor_count: Option<u64>,
    pub(crate) key_count: Option<u64>,
    pub(crate) keys: Vec<(String, Field)>,
    /// Name, sizes, type and offset.
    pub(crate) tensors: Vec<(String, Vec<u64>, u32, u64)>,
    pub(crate) data: Vec<u8>,
}

impl Default for Builder {
    fn default() -> Self {
        let (magic, version) = (*b"GGUF", 3);
        Self {
            magic,
            version,
            tensor_count: None,
            key_count: None,
            keys: vec![],
            tensors: vec![],
            data: vec![],
        }
    }
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

fn list<T>(id: u32, items: &[T], bytes: impl Fn(&T) -> Vec<u8>) -> (u32, Vec<u8>) {
    let mut out = [&id.to_le_bytes()[..], &(items.len() as u64).to_le_bytes()].concat();
    items.iter().for_each(|item| out.extend(bytes(item)));
    (9, out)
}

impl Field {
    fn bytes(&self) -> (u32, Vec<u8>) {
        match self {
            Self::U32(value) => (4, value.to_le_bytes().to_vec()),
            Self::F32(value) => (6, value.to_le_bytes().to_vec()),
            Self::Text(value) => (8, text(value)),
            Self::Texts(values) => list(8, values, |value| text(value)),
            Self::Floats(values) => list(6, values, |value| value.to_le_bytes().to_vec()),
            Self::Integers(values) => list(5, values, |value| value.to_le_bytes().to_vec()),
            Self::Raw(id, bytes) => (*id, bytes.clone()),
        }
    }
}

impl Builder {
    pub(crate) fn key(&mut self, name: &str, field: Field) -> &mut Self {
        self.keys.push((name.to_owned(), field));
        self
    }

    /// A tensor of f32, behind those that are there.
    pub(crate) fn tensor(&mut self, name: &str, sizes: &[u64], numbers: &[f32]) -> &mut Self {
        self.stored(name, sizes, 0, numbers.iter().flat_map(|number| number.to_le_bytes()).collect())
    }

    /// A tensor of the type with this number in ggml.
    pub(crate) fn stored(&mut self, name: &str, sizes: &[u64], kind: u32, bytes: Vec<u8>) -> &mut Self {
        let offset = self.data.len() as u64;
        self.tensors.push((name.to_owned(), sizes.to_vec(), kind, offset));
        self.data.extend(bytes);
        self.data.resize(self.data.len().next_multiple_of(32), 0);
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.magic.to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(self.tensor_count.unwrap_or(self.tensors.len() as u64).to_le_bytes());
        out.extend(self.key_count.unwrap_or(self.keys.len() as u64).to_le_bytes());
        for (name, field) in &self.keys {
            let (id, bytes) = field.bytes();
            out.extend(text(name));
            out.extend(id.to_le_bytes());
            out.extend(bytes);
        }
        for (name, sizes, kind, offset) in &self.tensors {
            out.extend(text(name));
            out.extend((sizes.len() as u32).to_le_bytes());
            sizes.iter().for_each(|size| out.extend(size.to_le_bytes()));
            out.extend(kind.to_le_bytes());
            out.extend(offset.to_le_bytes());
        }
        out.resize(out.len().next_multiple_of(32), 0);
        out.extend(&self.data);
        out
    }
}
