//! Runs the kernels of a folder: `cargo run --release -p simulate --example kernels -- FOLDER LLVM_TREE [WORD]`, those with WORD in their name.
//! Prints each kernel and shape, what was executed, and how fast.

use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, tree, ..] = arguments.as_slice() else { return Err("FOLDER LLVM_TREE [WORD]".into()) };
    let word = arguments.get(3).map_or("", String::as_str);
    let disassembler = gfx_sim::Disassembler::of_tree(Path::new(tree));
    let found = simulate::find(Path::new(folder))?;
    let start = Instant::now();
    let report = simulate::check_some(&found, &disassembler, &|kernel| kernel.contains(word))?;
    let seconds = start.elapsed().as_secs_f64();
    report.outcomes.iter().for_each(|outcome| println!("{outcome}\n     {}", outcome.counts));
    print!("{}", report.summary());
    let counts = report.counts();
    println!(
        "{counts}\n{:.1} s, {:.1} million lane-instructions a second",
        seconds,
        counts.lane_instructions() as f64 / 1e6 / seconds
    );
    Ok(())
}
