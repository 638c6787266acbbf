//! `strata serve` as a process of its own, and what a client asks of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

/// Longer than anything takes, for when something hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    /// Keeps the pipe open: the server talks when it stops.
    pub(crate) talk: Mutex<Box<dyn Iterator<Item = String> + Send>>,
}

impl Server {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("strata starts");
        let pipe = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut talk: Box<dyn Iterator<Item = String> + Send> = Box::new(pipe.lines().map_while(Result::ok));
        let address = talk.find_map(|line| line.strip_prefix("ready: http://").map(str::to_owned));
        Self { child, address: address.expect("a server that is ready"), talk: Mutex::new(talk) }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(DEADLINE)).expect("a time-out");
        stream
    }

    pub(crate) fn send(&self, head: &str, body: &str) -> TcpStream {
        let mut stream = self.connect();
        let length = body.len();
        let head = format!("{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).expect("sent");
        stream
    }

    /// All of an answer.
    pub(crate) fn answer(&self, head: &str, body: &str) -> String {
        let mut text = String::new();
        self.send(head, body).read_to_string(&mut text).expect("an answer");
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
