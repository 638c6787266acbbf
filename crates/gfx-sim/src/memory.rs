//! Global memory: buffers whose bounds are exact, far from each other.

use crate::fault::FaultKind;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

/// Numbers that a buffer can hold, little-endian.
pub trait Plain: Copy {
    /// Bytes of one.
    const BYTES: usize;
    /// Appends the bytes.
    fn put(self, bytes: &mut Vec<u8>);
    /// Reads [`Self::BYTES`] bytes.
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($number:ty),*) => {$(
        impl Plain for $number {
            const BYTES: usize = size_of::<Self>();
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
            fn get(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<Self>()];
                own.copy_from_slice(bytes);
                Self::from_le_bytes(own)
            }
        }
    )*};
}

plain!(u8, i8, u16, u32, i32, u64, i64, f32, f64, half::f16, half::bf16);

/// What a kernel may do with a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    ReadWrite,
}

#[derive(Debug)]
struct Buffer {
    name: String,
    base: u64,
    bytes: u64,
    access: Access,
    /// Whole words; the last may reach over the end, which no access may.
    words: Vec<AtomicU32>,
    /// Of each word the bytes that hold something, a bit each.
    defined: Vec<AtomicU8>,
    /// Of each word the bytes that a kernel has stored.
    stored: Vec<AtomicU8>,
}

impl Buffer {
    /// The bits of `mask` in one word; `flags` are its bytes.
    fn store(&self, index: usize, value: u32, mask: u32, flags: u8) {
        let word = &self.words[index];
        if mask == u32::MAX {
            word.store(value, Relaxed);
        } else {
            // Only these bytes change, whatever another workgroup does to their neighbours.
            word.fetch_and(!mask | value, Relaxed);
            word.fetch_or(value, Relaxed);
        }
        for kept in [&self.defined[index], &self.stored[index]] {
            if kept.load(Relaxed) & flags != flags {
                kept.fetch_or(flags, Relaxed);
            }
        }
    }
}

/// The memory that kernels see. Each buffer has its exact bounds, and 16 GiB of nothing around it.
#[derive(Debug, Default)]
pub struct Memory {
    buffers: Vec<Buffer>,
}

const BASE: u64 = 0x1000_0000_0000;
const DISTANCE: u64 = 16 << 30;

/// A place in a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    buffer: usize,
    offset: u64,
}

impl Memory {
    /// Without buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// A buffer of these numbers that kernels may only read; the address.
    pub fn read_only<T: Plain>(&mut self, name: &str, numbers: &[T]) -> u64 {
        self.add(name, Access::Read, &to_bytes(numbers), true)
    }

    /// A buffer of these numbers that kernels may change; the address.
    pub fn read_write<T: Plain>(&mut self, name: &str, numbers: &[T]) -> u64 {
        self.add(name, Access::ReadWrite, &to_bytes(numbers), true)
    }

    /// A buffer of `count` numbers that nothing has written yet: reading one before it is stored is a fault. The address.
    pub fn output<T: Plain>(&mut self, name: &str, count: usize) -> u64 {
        self.add(name, Access::ReadWrite, &vec![0xa5; count * T::BYTES], false)
    }

    /// A code object's image; `link` gets its address and changes its bytes before they are placed.
    pub(crate) fn image(&mut self, bytes: &[u8], link: impl Fn(u64, &mut [u8])) -> u64 {
        let mut bytes = bytes.to_vec();
        // The address of the next buffer.
        link(BASE + self.buffers.len() as u64 * DISTANCE, &mut bytes);
        self.add("the code object", Access::Read, &bytes, true)
    }

    /// Drops the last `count` buffers.
    pub(crate) fn forget(&mut self, count: usize) {
        self.buffers.truncate(self.buffers.len() - count);
    }

    fn add(&mut self, name: &str, access: Access, bytes: &[u8], defined: bool) -> u64 {
        let base = BASE + self.buffers.len() as u64 * DISTANCE;
        let word = |chunk: &[u8]| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(word))
        };
        let words: Vec<_> = bytes.chunks(4).map(word).collect();
        let flags = |set: bool| words.iter().map(|_| AtomicU8::new(if set { 15 } else { 0 })).collect();
        let (defined, stored) = (flags(defined), flags(false));
        self.buffers.push(Buffer {
            name: name.to_owned(),
            base,
            bytes: bytes.len() as u64,
            access,
            words,
            defined,
            stored,
        });
        base
    }

    /// Writes bytes as a host does, whatever kernels may do there.
    ///
    /// # Errors
    /// Where there is no memory.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), FaultKind> {
        for (at, byte) in bytes.iter().enumerate() {
            let place = self.find(address + at as u64, 1)?;
            let buffer = &self.buffers[place.buffer];
            let (index, shift) = ((place.offset / 4) as usize, 8 * (place.offset % 4) as u32);
            buffer.words[index].fetch_and(!(0xff << shift), Relaxed);
            buffer.words[index].fetch_or(u32::from(*byte) << shift, Relaxed);
            buffer.defined[index].fetch_or(1 << (place.offset % 4), Relaxed);
        }
        Ok(())
    }

    /// Reads bytes as a host does, and says of each whether anything was ever written there.
    ///
    /// # Errors
    /// Where there is no memory.
    pub fn read(&self, address: u64, len: usize) -> Result<(Vec<u8>, Vec<bool>), FaultKind> {
        let byte = |at: usize| {
            let (value, is_defined) = self.load_part(self.find(address + at as u64, 1)?, 1);
            Ok((value as u8, is_defined))
        };
        (0..len).map(byte).collect::<Result<Vec<_>, _>>().map(|bytes| bytes.into_iter().unzip())
    }

    /// Takes the buffer that starts at `address` away and says how many bytes it had: from now on there is nothing. Its address is not given again.
    ///
    /// # Errors
    /// No buffer starts there.
    pub fn release(&mut self, address: u64) -> Result<u64, FaultKind> {
        let place = self.find(address, 0)?;
        let buffer = &mut self.buffers[place.buffer];
        if place.offset != 0 {
            return Err(FaultKind::OutOfBounds { address, bytes: 0, nearest: self.nearest(address) });
        }
        (buffer.words, buffer.defined, buffer.stored) = (Vec::new(), Vec::new(), Vec::new());
        Ok(std::mem::take(&mut buffer.bytes))
    }

    /// All numbers of the buffer that starts at `address`.
    ///
    /// # Panics
    /// No buffer starts there: it is not one of this memory's addresses.
    pub fn numbers<T: Plain>(&self, address: u64) -> Vec<T> {
        let buffer = self.at(address);
        let bytes: Vec<u8> = buffer.words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect();
        bytes[..buffer.bytes as usize].chunks_exact(T::BYTES).map(T::get).collect()
    }

    /// Of each number of the buffer that starts at `address`, whether a kernel has stored all its bytes. One of which only a part was stored
    /// counts as not stored.
    ///
    /// # Panics
    /// No buffer starts there: it is not one of this memory's addresses.
    pub fn stored<T: Plain>(&self, address: u64) -> Vec<bool> {
        let buffer = self.at(address);
        let byte = |i: usize| buffer.stored[i / 4].load(Relaxed) >> (i % 4) & 1 != 0;
        (0..buffer.bytes as usize / T::BYTES).map(|n| (0..T::BYTES).all(|i| byte(n * T::BYTES + i))).collect()
    }

    fn at(&self, address: u64) -> &Buffer {
        let found = self.buffers.iter().find(|buffer| buffer.base == address);
        found.expect("an address that this memory has given")
    }

    /// The buffer that holds all of `bytes` bytes at `address`.
    pub(crate) fn find(&self, address: u64, bytes: u32) -> Result<Place, FaultKind> {
        let index = address.wrapping_sub(BASE) / DISTANCE;
        if let Some(buffer) = self.buffers.get(index as usize)
            && address >= buffer.base
            && address + u64::from(bytes) <= buffer.base + buffer.bytes
        {
            return Ok(Place { buffer: index as usize, offset: address - buffer.base });
        }
        Err(FaultKind::OutOfBounds { address, bytes, nearest: self.nearest(address) })
    }

    fn nearest(&self, address: u64) -> String {
        let distance = |buffer: &&Buffer| buffer.base.abs_diff(address);
        let Some(buffer) = self.buffers.iter().min_by_key(distance) else {
            return "there is no memory".into();
        };
        let offset = i128::from(address) - i128::from(buffer.base);
        format!("{offset} from the start of {} ({} bytes)", buffer.name, buffer.bytes)
    }

    /// 1, 2 or 4 bytes, and whether all of them hold something. They may lie in two words.
    pub(crate) fn load_part(&self, place: Place, bytes: u32) -> (u32, bool) {
        let buffer = &self.buffers[place.buffer];
        let (index, byte) = ((place.offset / 4) as usize, (place.offset % 4) as u32);
        let word = |i: usize| u64::from(buffer.words[i].load(Relaxed));
        let flags_of = |i: usize| u32::from(buffer.defined[i].load(Relaxed));
        let (mut value, mut defined) = (word(index), flags_of(index));
        if byte + bytes > 4 {
            value |= word(index + 1) << 32;
            defined |= flags_of(index + 1) << 4;
        }
        let flags = ((1u32 << bytes) - 1) << byte;
        let mask = (1u64 << (8 * bytes)) - 1;
        ((value >> (8 * byte) & mask) as u32, defined & flags == flags)
    }

    /// Why `place` may not be written, if it may not.
    pub(crate) fn check_store(&self, place: Place) -> Result<(), FaultKind> {
        let buffer = &self.buffers[place.buffer];
        match buffer.access {
            Access::ReadWrite => Ok(()),
            Access::Read => {
                Err(FaultKind::ReadOnly { address: buffer.base + place.offset, buffer: buffer.name.clone() })
            }
        }
    }

    /// `bytes` bytes of `value`, 1, 2 or 4. They may lie in two words.
    pub(crate) fn store(&self, place: Place, value: u32, bytes: u32) {
        let buffer = &self.buffers[place.buffer];
        let (index, byte) = ((place.offset / 4) as usize, (place.offset % 4) as u32);
        let mask = ((1u64 << (8 * bytes)) - 1) << (8 * byte);
        let flags = ((1u32 << bytes) - 1) << byte;
        let value = u64::from(value) << (8 * byte) & mask;
        buffer.store(index, value as u32, mask as u32, flags as u8 & 15);
        if byte + bytes > 4 {
            buffer.store(index + 1, (value >> 32) as u32, (mask >> 32) as u32, (flags >> 4) as u8);
        }
    }

    /// Changes a word in one step and gives the old one.
    pub(crate) fn update(&self, place: Place, change: impl Fn(u32) -> u32) -> u32 {
        let buffer = &self.buffers[place.buffer];
        let index = (place.offset / 4) as usize;
        buffer.stored[index].fetch_or(15, Relaxed);
        let word = &buffer.words[index];
        let mut old = word.load(Relaxed);
        loop {
            match word.compare_exchange_weak(old, change(old), Relaxed, Relaxed) {
                Ok(old) => return old,
                Err(now) => old = now,
            }
        }
    }
}

fn to_bytes<T: Plain>(numbers: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len() * T::BYTES);
    numbers.iter().for_each(|number| number.put(&mut bytes));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_exact() {
        let mut memory = Memory::new();
        let a = memory.read_only::<u16>("a", &[1, 2, 3]);
        let b = memory.output::<f32>("b", 2);
        assert!(memory.find(a + 2, 4).is_ok());
        let over = memory.find(a + 4, 4).expect_err("over the end");
        assert!(over.to_string().contains("4 from the start of a (6 bytes)"), "{over}");
        assert!(
            memory.find(a - 1, 1).is_err() && memory.find(0, 4).is_err() && memory.find(u64::MAX, 4).is_err()
        );
        assert!(memory.check_store(memory.find(a, 2).expect("there")).is_err());
        let place = memory.find(b + 4, 4).expect("there");
        assert!(!memory.load_part(place, 4).1);
        memory.store(place, 1.5f32.to_bits(), 4);
        assert_eq!((memory.numbers::<f32>(b)[1], memory.stored::<f32>(b)), (1.5, vec![false, true]));
    }

    #[test]
    fn a_host_writes_anywhere_and_sees_what_was_never_written() {
        let mut memory = Memory::new();
        let a = memory.output::<u8>("a", 6);
        memory.write(a + 1, &[1, 2, 3, 4]).expect("there");
        let (bytes, defined) = memory.read(a, 6).expect("there");
        assert_eq!((&bytes[1..5], defined), (&[1, 2, 3, 4][..], vec![false, true, true, true, true, false]));
        assert!(memory.write(a + 4, &[0; 3]).is_err() && memory.read(a - 1, 1).is_err());
        assert!(memory.release(a + 1).is_err());
        assert_eq!(memory.release(a).expect("there"), 6);
        assert!(memory.read(a, 1).is_err() && memory.output::<u8>("b", 1) != a);
    }

    #[test]
    fn a_half_does_not_touch_its_neighbour() {
        let mut memory = Memory::new();
        let a = memory.read_write::<u16>("a", &[0x1111, 0xffff]);
        memory.store(memory.find(a + 2, 2).expect("there"), 0x1234, 2);
        assert_eq!(memory.numbers::<u16>(a), [0x1111, 0x1234]);
        assert_eq!(memory.stored::<u16>(a), [false, true]);
    }
}
