//! `strata serve`, and a client of it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server that runs until it is dropped.
pub(crate) struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(command: &mut Command) -> Self {
        let child = command.stderr(Stdio::piped()).spawn().expect("strata starts");
        let mut server = Self { child, address: String::new() };
        let mut talk = String::new();
        let mut lines = BufReader::new(server.child.stderr.take().expect("a pipe"));
        loop {
            let start = talk.len();
            let count = lines.read_line(&mut talk).expect("text");
            assert!(count > 0, "it ended: {talk}");
            if let Some(address) = talk[start..].trim().strip_prefix("ready: http://") {
                address.clone_into(&mut server.address);
                // Who reads no more stops what is written.
                std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
                return server;
            }
        }
    }

    /// The answer to six tokens wanted, the best each time.
    pub(crate) fn complete(&self, prompt: &str) -> Value {
        let body = json!({ "prompt": prompt, "max_tokens": 6, "temperature": 0 }).to_string();
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        write!(
            stream,
            "POST /v1/completions HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
