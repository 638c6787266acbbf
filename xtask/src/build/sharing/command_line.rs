//! A compile of a HIP source to a code object, and the command lines of its stages.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// `clang++ FLAGS -o OUTPUT -c SOURCE`, for one target and without device libraries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Compile {
    compiler: String,
    /// All but output and source.
    flags: Vec<String>,
    source: String,
    /// The code object.
    pub(super) output: PathBuf,
    /// The gfx target.
    pub(super) target: String,
}

impl Compile {
    /// `None`: it is something else.
    pub(super) fn parse(command: &[OsString]) -> Option<Self> {
        let words: Vec<String> =
            command.iter().map(|word| word.to_str().map(str::to_owned)).collect::<Option<_>>()?;
        let (compiler, rest) = words.split_first()?;
        let [flags @ .., dash_o, output, dash_c, source] = rest else { return None };
        let has = |flag: &str| flags.iter().any(|word| word == flag);
        let targets: Vec<&str> =
            flags.iter().filter_map(|word| word.strip_prefix("--offload-arch=")).collect();
        let fits = dash_o == "-o" && dash_c == "-c" && has("--cuda-device-only") && has("-nogpulib");
        let &[target] = targets.as_slice() else { return None };
        fits.then(|| Self {
            compiler: compiler.clone(),
            flags: flags.to_vec(),
            source: source.clone(),
            output: output.into(),
            target: target.to_owned(),
        })
    }

    /// Leaves the preprocessed source in `to`, and the dependency file that the build asked for.
    pub(super) fn preprocess(&self, to: &Path) -> Vec<OsString> {
        self.line(self.flags.clone(), &["-E", "-P"], &self.source, to)
    }

    /// Leaves the IR of the source, as the front end makes it, in `to`.
    pub(super) fn front_end(&self, to: &Path) -> Vec<OsString> {
        let more = ["-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"];
        self.line(self.without_dependencies(), &more, &self.source, to)
    }

    /// The same of an empty kernel.
    pub(super) fn probe(&self, source: &Path, to: &Path) -> Vec<OsString> {
        let kept = ["-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpulib"];
        let flags = kept.map(str::to_owned).into_iter().chain(self.machine_flags(&["--offload-arch="]));
        let more = ["-nogpuinc", "-S", "-emit-llvm"];
        self.line(flags.collect(), &more, &source.to_string_lossy(), to)
    }

    /// Optimises IR, makes code of it, and links that to the code object, as the driver does for HIP.
    pub(super) fn back_end(&self, ir: &Path) -> Vec<OsString> {
        let mut flags = vec!["--target=amdgcn-amd-amdhsa".to_owned(), format!("-mcpu={}", self.target)];
        flags.extend(self.machine_flags(&["-O"]));
        flags.extend(["-nogpulib", "-mllvm", "-amdgpu-internalize-symbols"].map(str::to_owned));
        flags.extend(self.pairs("-mllvm").into_iter().flat_map(|option| ["-mllvm".to_owned(), option]));
        self.line(flags, &["-x", "ir"], &ir.to_string_lossy(), &self.output)
    }

    /// What a front end's output depends on beside the preprocessed source and the target.
    pub(super) fn shared_flags(&self) -> impl Iterator<Item = String> {
        let flags = self.without_dependencies().into_iter();
        [self.compiler.clone()].into_iter().chain(flags.filter(|flag| !flag.starts_with("--offload-arch=")))
    }

    fn line(&self, flags: Vec<String>, more: &[&str], source: &str, to: &Path) -> Vec<OsString> {
        let mut line = vec![self.compiler.clone().into()];
        line.extend(flags.into_iter().map(OsString::from));
        line.extend(more.iter().map(OsString::from));
        line.extend([source.into(), "-o".into(), to.into()]);
        line
    }

    /// `-Xclang -dependency-file -Xclang FILE -Xclang -MT -Xclang TARGET` (cmake/CodeObject.cmake) left out.
    fn without_dependencies(&self) -> Vec<String> {
        let mut flags = Vec::new();
        let mut rest = self.flags.as_slice();
        while let Some((flag, tail)) = rest.split_first() {
            match tail {
                [option, _, _, tail @ ..]
                    if flag == "-Xclang" && (option == "-dependency-file" || option == "-MT") =>
                {
                    rest = tail;
                }
                _ => {
                    flags.push(flag.clone());
                    rest = tail;
                }
            }
        }
        flags
    }

    /// Those of the machine, which begin with `-m`, and those that begin with one of `more`; LLVM's own options have two words.
    fn machine_flags(&self, more: &[&str]) -> impl Iterator<Item = String> {
        let fits =
            |flag: &&String| flag.starts_with("-m") || more.iter().any(|prefix| flag.starts_with(prefix));
        self.flags.iter().filter(fits).filter(|flag| *flag != "-mllvm").cloned()
    }

    /// The words that follow `option`.
    fn pairs(&self, option: &str) -> Vec<String> {
        self.flags.windows(2).filter(|pair| pair[0] == option).map(|pair| pair[1].clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "clang++ -O3 -x hip --cuda-device-only --offload-arch=gfx1102 -mcode-object-version=5 -mllvm -o=1 -nogpulib -Xclang \
                        -dependency-file -Xclang a.d -Xclang -MT -Xclang a.o -o a.o -c a.hip";

    fn parse(line: &str) -> Option<Compile> {
        Compile::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    fn shown(line: Vec<OsString>) -> String {
        line.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_stages_are_those_of_the_driver() {
        let compile = parse(LINE).expect("a compile");
        insta::assert_snapshot!(shown(compile.preprocess(Path::new("a.i"))), @"clang++ -O3 -x hip --cuda-device-only --offload-arch=gfx1102 -mcode-object-version=5 -mllvm -o=1 -nogpulib -Xclang -dependency-file -Xclang a.d -Xclang -MT -Xclang a.o -E -P a.hip -o a.i");
        insta::assert_snapshot!(shown(compile.front_end(Path::new("a.ll"))), @"clang++ -O3 -x hip --cuda-device-only --offload-arch=gfx1102 -mcode-object-version=5 -mllvm -o=1 -nogpulib -S -emit-llvm -Xclang -disable-llvm-passes a.hip -o a.ll");
        insta::assert_snapshot!(shown(compile.back_end(Path::new("a.ll"))), @"clang++ --target=amdgcn-amd-amdhsa -mcpu=gfx1102 -O3 -mcode-object-version=5 -nogpulib -mllvm -amdgpu-internalize-symbols -mllvm -o=1 -x ir a.ll -o a.o");
        insta::assert_snapshot!(shown(compile.probe(Path::new("p.hip"), Path::new("p.ll"))), @"clang++ -x hip --cuda-device-only --no-gpu-bundle-output -nogpulib --offload-arch=gfx1102 -mcode-object-version=5 -nogpuinc -S -emit-llvm p.hip -o p.ll");
    }

    #[test]
    fn targets_share_and_flags_separate() {
        let flags = |line: &str| parse(line).expect("a compile").shared_flags().collect::<Vec<_>>();
        assert_eq!(flags(LINE), flags(&LINE.replace("gfx1102", "gfx1151").replace("a.o", "b.o")));
        assert_ne!(flags(LINE), flags(&LINE.replace("version=5", "version=6")));
    }

    #[test]
    fn other_compiles_are_left_alone() {
        for (from, to) in [
            (" -nogpulib", ""),
            ("--offload-arch=gfx1102 ", ""),
            ("--cuda-device-only ", ""),
            (" -c a.hip", ""),
        ] {
            assert_eq!(parse(&LINE.replace(from, to)), None, "{from}");
        }
    }
}
