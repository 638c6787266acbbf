//! OpenAI's own client against `strata serve`.

use crate::python::{LLAMA_CPP, OPENAI, output, script};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The client's calls, answered.
pub(crate) fn talks() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openai");
    std::fs::create_dir_all(&folder).expect("a folder");
    output(script(&LLAMA_CPP, "tiny.py").arg(&folder).arg("qwen3-Q8_0"));
    let child = Command::new(env!("CARGO_BIN_EXE_strata"))
        .arg("serve")
        .arg(folder.join("qwen3-Q8_0.gguf"))
        .args(["--port", "0", "--name", "tiny", "--threads", "1"])
        .env("STRATA_API_KEY", "secret")
        .stderr(Stdio::piped())
        .spawn()
        .expect("strata starts");
    let mut server = Server(child);
    let mut lines = BufReader::new(server.0.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let address = lines
        .find_map(|line| line.strip_prefix("ready: ").map(str::to_owned))
        .expect("a server that is ready");
    let said = output(script(&OPENAI, "openai_client.py").arg(&address).arg("secret"));
    assert_eq!(said.trim(), "all right");
}
