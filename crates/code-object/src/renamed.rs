//! A code object of another target with the same code.

use crate::CodeObject;
use gfx::Target;

/// Where an ELF file of 64 bits says its flags, of which the lowest byte is the machine (`EF_AMDGPU_MACH`).
const FLAGS: usize = 48;

/// The code object with `target` in its flags and in its metadata: what the compiler makes for that target where it makes the same code
/// ([`Target::compiled_as`]). `None`: it is no code object, the names differ in length, or the name stands elsewhere too.
pub fn renamed(bytes: &[u8], target: Target) -> Option<Vec<u8>> {
    let from = CodeObject::parse(bytes).ok()?.target.name().as_bytes();
    let to = target.name().as_bytes();
    let mut places = bytes.windows(from.len()).enumerate().filter(|(_, word)| *word == from);
    let (Some((place, _)), None) = (places.next(), places.next()) else { return None };
    if from.len() != to.len() {
        return None;
    }
    let mut renamed = bytes.to_vec();
    renamed[FLAGS] = u8::try_from(target.mach()).ok()?;
    renamed[place..][..to.len()].copy_from_slice(to);
    CodeObject::parse(&renamed).is_ok_and(|object| object.target == target).then_some(renamed)
}
