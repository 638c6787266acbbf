//! AMD GPUs that Linux's kernel driver lists (facts/strata.md 2.3).

use gfx::Target;
use std::path::Path;

/// One GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gpu {
    /// HIP's number: the order of the GPU nodes.
    pub(crate) number: usize,
    /// As the kernel names it, e.g. `gfx1201`.
    pub(crate) arch: String,
    /// The target, if this project knows it.
    pub(crate) target: Option<Target>,
    /// In bytes, where the kernel says.
    pub(crate) vram: Option<u64>,
}

const NODES: &str = "/sys/class/kfd/kfd/topology/nodes";

/// The GPUs of this machine; none when there is no driver.
pub(crate) fn gpus() -> Vec<Gpu> {
    let mut nodes: Vec<(u32, String)> = std::fs::read_dir(NODES)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            Some((number, std::fs::read_to_string(entry.path().join("properties")).ok()?))
        })
        .collect();
    nodes.sort();
    let texts: Vec<String> = nodes.into_iter().map(|(_, properties)| properties).collect();
    gpus_of_nodes(&texts, |minor| {
        let path = format!("/sys/class/drm/renderD{minor}/device/mem_info_vram_total");
        std::fs::read_to_string(Path::new(&path)).ok()?.trim().parse().ok()
    })
}

/// The GPUs among the nodes' `properties` texts; CPUs are nodes too.
fn gpus_of_nodes(nodes: &[String], vram_of_minor: impl Fn(u64) -> Option<u64>) -> Vec<Gpu> {
    let mut gpus = Vec::new();
    for text in nodes {
        let value = |key: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse::<u64>().ok())
        };
        let version = value("gfx_target_version").unwrap_or(0);
        if version == 0 || value("simd_count").unwrap_or(0) == 0 {
            continue;
        }
        let arch = arch_of_version(version);
        gpus.push(Gpu {
            number: gpus.len(),
            target: Target::parse(&arch).ok(),
            arch,
            vram: value("drm_render_minor").and_then(&vram_of_minor),
        });
    }
    gpus
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
    fn cpus_are_no_gpus_and_numbers_follow_the_nodes() {
        let nodes = [
            "cpu_cores_count 16\nsimd_count 0\ngfx_target_version 0\n",
            "simd_count 4\ngfx_target_version 100306\ndrm_render_minor 128\n",
            "simd_count 128\ngfx_target_version 120001\ndrm_render_minor 129\n",
        ]
        .map(str::to_owned);
        let gpus = gpus_of_nodes(&nodes, |minor| (minor == 129).then_some(16 << 30));
        let seen: Vec<_> = gpus.iter().map(|gpu| (gpu.number, gpu.arch.as_str(), gpu.vram)).collect();
        assert_eq!(seen, [(0, "gfx1036", None), (1, "gfx1201", Some(16 << 30))]);
    }
}
