//! Real code objects, and what is left of them after something went wrong.

use code_object::{CodeObject, Error, Expected, Kernel, Kind, violations};
use gfx::Target;

const GFX1100: &[u8] = include_bytes!("data/gfx1100.co");
const GFX1201: &[u8] = include_bytes!("data/gfx1201.co");

/// Where an ELF64 header keeps things.
const OS_ABI: usize = 7;
const ABI_VERSION: usize = 8;
const MACHINE: usize = 18;
const FLAGS: usize = 48;

fn with(bytes: &[u8], at: usize, value: u8) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[at] = value;
    changed
}

/// Replaces the first occurrence of `from`, which is in the note: it comes before the string table.
fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).expect(from);
    let mut changed = bytes.to_vec();
    changed[at..at + to.len()].copy_from_slice(to.as_bytes());
    changed
}

#[test]
fn what_the_compiler_wrote_is_read() {
    for (bytes, target) in [(GFX1100, Target::Gfx1100), (GFX1201, Target::Gfx1201)] {
        let object = CodeObject::parse(bytes).expect("a code object");
        assert_eq!((object.target, object.version), (target, 5));
        let names: Vec<&str> = object.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["scale", "reverse"]);
        let reverse = object.kernel("reverse").expect("reverse");
        assert_eq!((reverse.lds, reverse.scratch, reverse.kernarg_size), (256, 0, 8));
        assert_eq!((reverse.wave_size, reverse.max_flat_workgroup_size), (32, 64));
    }
    let scale = CodeObject::parse(GFX1201).expect("gfx1201").kernels.swap_remove(0);
    let expected = Kernel {
        name: "scale".into(),
        symbol: "scale.kd".into(),
        kernarg_size: 16,
        vgpr: 3,
        sgpr: 6,
        vgpr_spills: 0,
        sgpr_spills: 0,
        lds: 0,
        scratch: 0,
        wave_size: 32,
        max_flat_workgroup_size: 64,
        uses_dynamic_stack: false,
    };
    assert_eq!(scale, expected);
}

#[test]
fn the_other_name_is_written_where_the_target_stands() {
    let renamed = code_object::renamed(GFX1201, Target::Gfx1200).expect("as long a name");
    let object = CodeObject::parse(&renamed).expect("a code object");
    assert_eq!(object.target, Target::Gfx1200);
    assert_eq!(code_object::renamed(&renamed, Target::Gfx1201).as_deref(), Some(GFX1201));
    let changed = renamed.iter().zip(GFX1201).filter(|(a, b)| a != b).count();
    assert_eq!(changed, 2, "the machine in the flags and the last digit of the name");
    assert_eq!(code_object::renamed(GFX1201, Target::Gfx12Generic), None);
    let twice = [GFX1201, b"gfx1201"].concat();
    assert_eq!(code_object::renamed(&twice, Target::Gfx1200), None);
    assert_eq!(code_object::renamed(b"no code object", Target::Gfx1200), None);
}

#[test]
fn constants_are_read_from_the_file() {
    let object = CodeObject::parse(GFX1100).expect("gfx1100");
    assert_eq!(object.constant("scale_block"), Some(vec![64, 0, 0, 0]));
    assert_eq!(object.constant_u32("scale_block"), Some(64));
    for other in ["scale", "scale.kd", "reverse.kd", "missing", ""] {
        assert_eq!(object.constant(other), None, "{other}");
    }
}

#[test]
fn kernels_survive_json() {
    let object = CodeObject::parse(GFX1201).expect("gfx1201");
    let json = serde_json::to_string(&object.kernels).expect("to JSON");
    let back: Vec<Kernel> = serde_json::from_str(&json).expect("from JSON");
    assert_eq!(back, object.kernels);
}

#[test]
fn other_files_are_named_as_what_they_are() {
    let parse = |bytes: Vec<u8>| CodeObject::parse(&bytes).expect_err("not a code object");
    assert!(matches!(parse(Vec::new()), Error::Elf(_)));
    assert!(matches!(parse(b"__CLANG_OFFLOAD_BUNDLE__".repeat(8)), Error::Elf(_)));
    assert!(matches!(parse(with(GFX1100, MACHINE, 62)), Error::Machine { machine: 62 }));
    assert!(matches!(parse(with(GFX1100, OS_ABI, 0)), Error::OsAbi { os_abi: 0 }));
    assert!(matches!(parse(with(GFX1100, ABI_VERSION, 1)), Error::Version { abi: 1 }));
    assert!(matches!(parse(with(GFX1100, FLAGS, 0x3f)), Error::Mach { mach: 0x3f }));
}

#[test]
fn flags_and_metadata_must_agree() {
    let error = CodeObject::parse(&with(GFX1100, FLAGS, 0x46)).expect_err("a mismatch");
    assert_eq!(error.to_string(), "the code object's e_flags say gfx1101, its metadata says gfx1100");
    let renamed = replaced(GFX1100, "amdhsa--gfx1100", "amdhsa--gfx1101");
    assert!(matches!(CodeObject::parse(&renamed), Err(Error::TargetMismatch { .. })));
    let unknown = replaced(GFX1100, "amdhsa--gfx1100", "amdhsa--gfx9999");
    assert!(matches!(CodeObject::parse(&unknown), Err(Error::UnknownTarget { .. })));
}

#[test]
fn metadata_must_be_whole() {
    let message = |from, to| CodeObject::parse(&replaced(GFX1201, from, to)).expect_err(from).to_string();
    assert_eq!(
        message(".vgpr_count", ".vgpr_tnuoc"),
        "the metadata's `.vgpr_count` is not a number of 32 bits"
    );
    assert_eq!(message("amdhsa.kernels", "amdhsa.slenrek"), "the metadata's `amdhsa.kernels` is not a list");
    assert_eq!(message("amdhsa.target", "amdhsa.tegrat"), "the metadata's `amdhsa.target` is not text");
    assert_eq!(
        message("reverse.kd", "reverse.dk"),
        "kernel `reverse` has no descriptor: there is no symbol `reverse.dk`"
    );
}

#[test]
fn an_optional_key_may_be_missing() {
    let object =
        CodeObject::parse(&replaced(GFX1201, ".vgpr_spill_count", ".vgpr_spill_tnuoc")).expect("still whole");
    assert_eq!(object.kernels[0].vgpr_spills, 0);
}

#[test]
fn no_truncation_panics() {
    for bytes in [GFX1100, GFX1201] {
        for len in 0..bytes.len() {
            // The section headers come last, so no prefix is whole.
            assert!(CodeObject::parse(&bytes[..len]).is_err(), "{len}");
        }
    }
}

#[test]
fn no_flipped_byte_panics() {
    for bytes in [GFX1100, GFX1201] {
        for at in 0..bytes.len() {
            for mask in [0x01, 0x80, 0x7f, 0xff] {
                let _ = CodeObject::parse(&with(bytes, at, bytes[at] ^ mask));
            }
        }
    }
}

#[test]
fn no_huge_number_panics() {
    for at in 0..GFX1201.len() - 8 {
        let mut changed = GFX1201.to_vec();
        changed[at..at + 8].fill(0xff);
        let _ = CodeObject::parse(&changed);
        // MessagePack's list and text of 2^32 - 1 entries.
        for head in [0xdd, 0xdb, 0xdf, 0xc6] {
            changed[at] = head;
            let _ = CodeObject::parse(&changed);
        }
    }
}

#[test]
fn brackets_do_not_exhaust_the_stack() {
    // The note's document begins after its name, and 0x91 is a list of one.
    let start = GFX1201.windows(7).position(|window| window == b"AMDGPU\0").expect("a note") + 8;
    let mut changed = GFX1201.to_vec();
    changed[start..start + 0x3a0].fill(0x91);
    assert!(matches!(CodeObject::parse(&changed), Err(Error::MessagePack(_))));
}

#[test]
fn instructions_follow_one_another_to_the_end_of_the_kernel() {
    for (bytes, wmma) in [(GFX1100, gfx::Wmma::Gfx11), (GFX1201, gfx::Wmma::Gfx12)] {
        let object = CodeObject::parse(bytes).expect("a code object");
        for kernel in ["scale", "reverse"] {
            let code = object.code(kernel).expect("machine code");
            let all = code_object::instructions(code, wmma);
            let mut end = 0;
            for instruction in &all {
                assert_eq!(instruction.offset, end);
                assert_ne!(instruction.kind, Kind::Unknown, "{kernel} at {end}");
                end += instruction.size;
            }
            assert_eq!(end, code.len());
            let count = |kind: Kind| all.iter().filter(|i| i.kind == kind).count();
            assert_eq!((count(Kind::Wmma), count(Kind::LoadToLds)), (0, 0));
            assert!(count(Kind::Memory) >= 2, "a load and a store");
            assert_eq!(count(Kind::Lds) > 0, kernel == "reverse");
        }
    }
}

#[test]
fn kinds_are_told_by_their_encodings() {
    use gfx::Wmma::{Gfx11, Gfx12};
    let table: [(&[u32], gfx::Wmma, Kind, usize); 12] = [
        (&[0xCC41_4000, 0x1C42_0110], Gfx11, Kind::Wmma, 8), // v_wmma_f32_16x16x16_bf16
        (&[0xCC46_4000, 0x1C42_0110], Gfx12, Kind::Wmma, 8), // v_wmma_f32_16x16x16_fp8_fp8
        (&[0xCC46_4000, 0x1C42_0110], Gfx11, Kind::Vector, 8),
        (&[0xE0B4_0000, 0x8000_0000], Gfx11, Kind::LoadToLds, 8), // buffer_load_lds_u8
        (&[0x7E00_02FF, 0x3F80_0000], Gfx11, Kind::Vector, 8),    // v_mov_b32 with a literal
        (&[0x7E00_0301], Gfx12, Kind::Vector, 4),
        (&[0xBFA0_FFFF], Gfx11, Kind::Branch { distance: 0 }, 4),
        (&[0xBFA1_FFFE], Gfx12, Kind::Branch { distance: -4 }, 4),
        (&[0xBF80_0000], Gfx11, Kind::Control, 4), // s_nop
        (&[0x8000_FF00, 0x1234_5678], Gfx11, Kind::Scalar, 8),
        (&[0xEE05_0000, 0, 0], Gfx12, Kind::Memory, 12), // global_load
        (&[0xFFFF_FFFF], Gfx11, Kind::Unknown, 4),
    ];
    for (words, wmma, kind, size) in table {
        let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let first = code_object::instructions(&code, wmma)[0];
        assert_eq!((first.kind, first.size), (kind, size), "{words:x?}");
    }
}

/// What is true of the two kernels of the files.
fn true_of_both() -> [Expected; 2] {
    let kernel = |name: &str, argument_bytes, lds_bytes, constants: &[(&str, u32)]| Expected {
        name: name.into(),
        threads: 64,
        argument_bytes,
        lds_bytes,
        vgprs: 16,
        scratch_bytes: 0,
        wmma: false,
        constants: constants.iter().map(|(symbol, word)| ((*symbol).into(), vec![*word])).collect(),
    };
    [kernel("scale", 16, 0, &[("scale_block", 64)]), kernel("reverse", 8, 256, &[])]
}

/// Bytes of the file with other ones at the start of the code of `scale`.
fn with_code(words: &[u32]) -> Vec<u8> {
    let object = CodeObject::parse(GFX1100).expect("gfx1100");
    let code = object.code("scale").expect("scale");
    let at = GFX1100.windows(code.len()).position(|window| window == code).expect("its code");
    let mut changed = GFX1100.to_vec();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    changed[at..at + bytes.len()].copy_from_slice(&bytes);
    changed
}

#[test]
fn each_rule_of_the_gate_can_fail() {
    let found = |object: &CodeObject, expected: &[Expected]| {
        violations(object, expected).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let object = || CodeObject::parse(GFX1100).expect("gfx1100");
    assert_eq!(found(&object(), &true_of_both()), Vec::<String>::new());

    type Change<'c> = &'c dyn Fn(&mut [Expected; 2], &mut CodeObject);
    let changes: [(Change, &[&str]); 11] = [
        (&|_, object| object.kernels[0].wave_size = 64, &["scale: wave size: 64, expected 32"]),
        (
            &|_, object| object.kernels[0].max_flat_workgroup_size = 128,
            &["scale: largest work-group: 128, expected 64"],
        ),
        (
            &|_, object| object.kernels[0].uses_dynamic_stack = true,
            &["scale: dynamic stack: true, expected false"],
        ),
        (&|expected, _| expected[1].lds_bytes = 128, &["reverse: LDS bytes: 256, expected 128"]),
        (
            &|expected, object| {
                object.kernels[1].lds = 65_540;
                expected[1].lds_bytes = 65_540;
            },
            &["reverse: LDS bytes: 65540, expected at most 65536"],
        ),
        (&|expected, _| expected[0].vgprs = 2, &["scale: vgprs: 3, expected at most 2"]),
        (&|_, object| object.kernels[0].scratch = 4, &["scale: scratch bytes: 4, expected at most 0"]),
        (&|expected, _| expected[0].argument_bytes = 24, &["scale: argument bytes: 16, expected 24"]),
        (
            &|expected, _| expected[0].constants = [("scale_block".to_owned(), vec![32])].into(),
            &["scale: scale_block: [64, 0, 0, 0], expected [32, 0, 0, 0]"],
        ),
        (&|expected, _| expected[0].constants.clear(), &["scale_block: symbol: present, expected absent"]),
        (&|expected, _| expected[1].wmma = true, &["reverse: v_wmma: absent, expected present"]),
    ];
    for (change, words) in changes {
        let (mut expected, mut object) = (true_of_both(), object());
        change(&mut expected, &mut object);
        assert_eq!(found(&object, &expected), words);
    }
    assert_eq!(found(&object(), &true_of_both()[..1])[0], "reverse: kernel: present, expected absent");

    // buffer_load_lds_u8, and nothing that the manuals list.
    for (words, expected) in [
        (&[0xE0B4_0000, 0x8000_0000][..], "scale: load to LDS: present, expected absent"),
        (&[0xFFFF_FFFF, 0xFFFF_FFFF], "scale: unknown instruction: present, expected absent"),
    ] {
        let changed = CodeObject::parse(&with_code(words)).expect("a code object");
        let said = found(&changed, &true_of_both());
        assert!(said.iter().any(|said| said == expected), "{said:?}");
    }
}
