//! A small HTTP server that does what servers, proxies and bad lines do.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// What goes wrong with a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// This status and no file.
    Status(u16),
    /// The connection is closed after so many bytes of the body.
    Cut(usize),
    /// Nothing more comes after so many bytes, and the connection stays open.
    Stall(usize),
    /// A web page in place of the file, with status 200.
    Page,
}

type Files = Arc<Mutex<BTreeMap<String, (Vec<u8>, Fault)>>>;

/// Serves until it is dropped.
pub(crate) struct Server {
    address: String,
    files: Files,
    requests: Arc<Mutex<Vec<String>>>,
    stalled: Mutex<Receiver<()>>,
}

impl Server {
    /// On a free port of this machine.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = format!("http://{}", listener.local_addr().expect("address"));
        let files: Files = Arc::default();
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (stall, stalled) = channel();
        let shared = (files.clone(), requests.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let ((files, requests), stall) = (shared.clone(), stall.clone());
                std::thread::spawn(move || answer(stream, &files, &requests, &stall));
            }
        });
        Self { address, files, requests, stalled: Mutex::new(stalled) }
    }

    /// Offers `content` under `/name` and gives its address.
    pub(crate) fn offer(&self, name: &str, content: &[u8], fault: Fault) -> String {
        self.files.lock().expect("files").insert(format!("/{name}"), (content.to_vec(), fault));
        format!("{}/{name}", self.address)
    }

    /// How many requests there were.
    pub(crate) fn request_count(&self) -> usize {
        self.requests.lock().expect("requests").len()
    }

    /// Waits until a transfer has reached its [`Fault::Stall`].
    pub(crate) fn wait_for_stall(&self) {
        self.stalled.lock().expect("stalled").recv().expect("a transfer stalls");
    }
}

fn answer(mut stream: TcpStream, files: &Files, requests: &Mutex<Vec<String>>, stall: &Sender<()>) {
    let mut reader = BufReader::new(stream.try_clone().expect("clone"));
    let mut request = String::new();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
        request += &std::mem::take(&mut line);
    }
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    requests.lock().expect("requests").push(request);
    let found = files.lock().expect("files").get(&path).cloned();
    let (body, fault) = found.unwrap_or((Vec::new(), Fault::Status(404)));
    let mut send = |status: u16, body: &[u8], length: usize| {
        let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).and_then(|()| stream.flush())
    };
    // A client that went away is what some tests are about.
    let _ = match fault {
        Fault::None => send(200, &body, body.len()),
        Fault::Status(status) => send(status, b"", 0),
        Fault::Cut(at) => send(200, &body[..at], body.len()),
        Fault::Stall(at) => {
            let sent = send(200, &body[..at], body.len());
            let _ = stall.send(());
            // Until the client ends the connection.
            let _ = std::io::Read::read(&mut stream, &mut [0]);
            sent
        }
        Fault::Page => {
            let page = format!("<!DOCTYPE html>{}", " ".repeat(body.len().saturating_sub(15)));
            send(200, page.as_bytes(), page.len())
        }
    };
}
