//! AMD GPUs that Linux's kernel driver lists (facts/strata.md 2.3).

use super::{Detection, Gpu, Source};
use gfx::Target;
use std::collections::BTreeMap;
use std::path::Path;

/// One node of the topology: a processor or a GPU.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// The numbers of its `properties`.
    pub(super) properties: BTreeMap<String, u64>,
    /// `product_name` of its card.
    pub(super) name: Option<String>,
    /// `mem_info_vram_total` of its card, in bytes.
    pub(super) vram: Option<u64>,
}

/// What the kernel lists below `root`, and whether this user may use it.
pub(super) fn detect(root: &Path) -> Detection {
    let gpus = gpus(&read(root));
    let device = std::fs::OpenOptions::new().read(true).write(true).open(root.join("dev/kfd"));
    let locked = device.err().filter(|_| !gpus.is_empty());
    let remarks = locked
        .map(|error| format!("this user may not use the GPUs: `/dev/kfd`: {error}"))
        .into_iter()
        .collect();
    Detection { gpus, remarks }
}

/// The topology below `root`, which is `/` but for tests; empty when there is no driver.
pub(super) fn read(root: &Path) -> Vec<Node> {
    let folder = root.join("sys/class/kfd/kfd/topology/nodes");
    let mut nodes: Vec<(u32, Node)> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let text = std::fs::read_to_string(entry.path().join("properties")).ok()?;
            Some((number, with_card(root, numbers(&text))))
        })
        .collect();
    nodes.sort_by_key(|(number, _)| *number);
    nodes.into_iter().map(|(_, node)| node).collect()
}

fn with_card(root: &Path, properties: BTreeMap<String, u64>) -> Node {
    let card = properties.get("drm_render_minor").filter(|minor| **minor > 0);
    let read = |file: &str| {
        let path = root.join(format!("sys/class/drm/renderD{}/device/{file}", card?));
        Some(std::fs::read_to_string(path).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let vram = read("mem_info_vram_total").and_then(|text| text.parse().ok());
    Node { name: read("product_name"), vram, properties }
}

fn numbers(text: &str) -> BTreeMap<String, u64> {
    let number = |line: &str| {
        let (key, value) = line.split_once(' ')?;
        Some((key.to_owned(), value.trim().parse().ok()?))
    };
    text.lines().filter_map(number).collect()
}

/// The GPUs among the nodes. HIP numbers them in the order of the nodes.
pub(super) fn gpus(nodes: &[Node]) -> Vec<Gpu> {
    let value = |node: &Node, key: &str| node.properties.get(key).copied().unwrap_or(0);
    let is_gpu = |node: &&Node| value(node, "gfx_target_version") != 0 && value(node, "simd_count") != 0;
    let gpu = |(number, node): (u32, &Node)| {
        let arch = arch_of_version(value(node, "gfx_target_version"));
        let target = Target::parse(&arch).ok();
        Gpu {
            number: Some(number),
            name: node.name.clone(),
            arch: Some(arch),
            target,
            vram: node.vram,
            // A processor with a GPU inside is one node that has both.
            is_integrated: target.is_some_and(gfx::is_integrated) || value(node, "cpu_cores_count") > 0,
            driver: None,
            source: Source::Kfd,
        }
    };
    (0..).zip(nodes.iter().filter(is_gpu)).map(gpu).collect()
}

/// 110501 is gfx1151: major in decimal, minor and stepping as one hex digit each.
fn arch_of_version(version: u64) -> String {
    format!("gfx{}{:x}{:x}", version / 10_000, version / 100 % 100, version % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_become_names() {
        for (version, name) in [
            (110_000, "gfx1100"),
            (120_001, "gfx1201"),
            (110_501, "gfx1151"),
            (100_306, "gfx1036"),
            (90_010, "gfx90a"),
        ] {
            assert_eq!(arch_of_version(version), name);
        }
    }

    #[test]
    fn the_topology_is_read_from_its_files() {
        let root = tempfile::tempdir().expect("temp");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("parent")).expect("folder");
            std::fs::write(path, text).expect("write");
        };
        let nodes = "sys/class/kfd/kfd/topology/nodes";
        write(&format!("{nodes}/0/properties"), "cpu_cores_count 16\nsimd_count 0\ngfx_target_version 0\n");
        write(
            &format!("{nodes}/10/properties"),
            "simd_count 128\ngfx_target_version 120001\ndrm_render_minor 129\n",
        );
        write(
            &format!("{nodes}/9/properties"),
            "simd_count 4\ngfx_target_version 100306\nsdma_fw_version x\n",
        );
        write(&format!("{nodes}/11/name"), "no properties");
        write("sys/class/drm/renderD129/device/mem_info_vram_total", "17095983104\n");
        write("sys/class/drm/renderD129/device/product_name", "AMD Radeon RX 9070 XT\n");
        let gpus = gpus(&read(root.path()));
        let seen: Vec<_> =
            gpus.iter().map(|gpu| (gpu.number, gpu.label(), gpu.vram, gpu.is_integrated)).collect();
        assert_eq!(
            seen,
            [
                (Some(0), "gfx1036".to_owned(), None, true),
                (Some(1), "AMD Radeon RX 9070 XT (gfx1201)".to_owned(), Some(17_095_983_104), false)
            ],
            "nodes are ordered as numbers"
        );
        assert_eq!(read(&root.path().join("nowhere")), []);
        let locked = detect(root.path()).remarks;
        assert!(locked[0].starts_with("this user may not use the GPUs: `/dev/kfd`: "), "{locked:?}");
        write("dev/kfd", "");
        assert_eq!(detect(root.path()).remarks, Vec::<String>::new());
    }
}
