//! A small HTTP server with ranges that does what servers, proxies and bad lines do.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// What goes wrong with one answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// This status and no file.
    Status(u16),
    /// The connection is closed after so many bytes of the body.
    Cut(usize),
    /// The same without a length in the head, so that the client cannot tell the end from the break.
    CutNoLength(usize),
    /// Nothing more comes after so many bytes, and the connection stays open.
    Stall(usize),
    /// A web page in place of the file, with status 200.
    Page,
    /// The whole file with status 200, whatever range was asked for.
    IgnoreRange,
    /// A range that begins so many bytes too early.
    EarlyRange(usize),
    /// The file with the validator of another one.
    OtherValidator,
    /// The file, labelled as if its transfer were compressed.
    LabelledGzip,
    /// The file without a length, its end told by the end of the connection.
    NoLength,
}

#[derive(Clone, Default)]
struct File {
    body: Vec<u8>,
    etag: String,
    faults: VecDeque<Fault>,
    /// The fault of every answer once the queue is empty.
    always: Option<Fault>,
    /// Where requests are sent instead.
    moved_to: Option<String>,
}

#[derive(Default)]
struct Shared {
    files: Mutex<BTreeMap<String, File>>,
    requests: Mutex<Vec<String>>,
    sent: AtomicU64,
}

/// Serves until the process ends.
pub struct Server {
    address: String,
    shared: Arc<Shared>,
    stalled: Mutex<Receiver<()>>,
}

impl Server {
    /// On a free port of this machine.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let address = format!("http://{}", listener.local_addr().expect("address"));
        let shared: Arc<Shared> = Arc::default();
        let (stall, stalled) = channel();
        let for_thread = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, stall) = (for_thread.clone(), stall.clone());
                std::thread::spawn(move || answer(stream, &shared, &stall));
            }
        });
        Self { address, shared, stalled: Mutex::new(stalled) }
    }

    /// Offers `content` under `/name`, with the same fault every time, and gives its address.
    pub fn offer(&self, name: &str, content: &[u8], fault: Fault) -> String {
        self.put(name, content, VecDeque::new(), Some(fault))
    }

    /// Offers `content` with one fault for each answer, in order, and none after them.
    pub fn offer_with(&self, name: &str, content: &[u8], faults: &[Fault]) -> String {
        self.put(name, content, faults.iter().copied().collect(), None)
    }

    fn put(&self, name: &str, content: &[u8], faults: VecDeque<Fault>, always: Option<Fault>) -> String {
        let etag = format!("\"{}\"", &crate::sha256(content)[..8]);
        let file = File { body: content.to_vec(), etag, faults, always, moved_to: None };
        self.shared.files.lock().expect("files").insert(format!("/{name}"), file);
        format!("{}/{name}", self.address)
    }

    /// Answers requests for `/name` with a redirect to `to`.
    pub fn redirect(&self, name: &str, to: &str) {
        let file = File { moved_to: Some(to.to_owned()), ..File::default() };
        self.shared.files.lock().expect("files").insert(format!("/{name}"), file);
    }

    /// Its address, without a path.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// How many requests there were.
    pub fn request_count(&self) -> usize {
        self.requests().len()
    }

    /// The head of every request.
    pub fn requests(&self) -> Vec<String> {
        self.shared.requests.lock().expect("requests").clone()
    }

    /// Bytes of bodies that were handed to the system to send.
    pub fn sent(&self) -> u64 {
        self.shared.sent.load(Ordering::SeqCst)
    }

    /// Waits until a transfer has reached its [`Fault::Stall`].
    pub fn wait_for_stall(&self) {
        let stalled = self.stalled.lock().expect("stalled");
        stalled
            .recv_timeout(std::time::Duration::from_secs(30))
            .expect("a transfer stalls within half a minute");
    }
}

fn answer(mut stream: TcpStream, shared: &Shared, stall: &Sender<()>) {
    let mut reader = BufReader::new(stream.try_clone().expect("clone"));
    let mut request = String::new();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
        request += &std::mem::take(&mut line);
    }
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let header = |name: &str| {
        let find = |line: &str| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        };
        request.lines().find_map(find)
    };
    let range = header("range").and_then(|text| parse_range(&text)).unwrap_or_default();
    let if_range = header("if-range");
    let (file, fault) = {
        let mut files = shared.files.lock().expect("files");
        match files.get_mut(&path) {
            Some(file) => {
                let fault = file.faults.pop_front().or(file.always).unwrap_or(Fault::None);
                (file.clone(), fault)
            }
            None => (File::default(), Fault::Status(404)),
        }
    };
    let is_same = if_range.is_none_or(|validator| validator == file.etag);
    let range = if is_same && fault != Fault::IgnoreRange { range } else { Range::default() };
    shared.requests.lock().expect("requests").push(request);
    // A client that went away is what some tests are about.
    let _ = send(&mut stream, &file, fault, range, shared, stall);
}

/// The part of a file that a request asks for.
#[derive(Clone, Copy, Default)]
struct Range {
    start: usize,
    /// After the last byte.
    end: Option<usize>,
}

/// `bytes=5-9` or `bytes=5-`.
fn parse_range(text: &str) -> Option<Range> {
    let (start, end) = text.strip_prefix("bytes=")?.split_once('-')?;
    let end = end.parse::<usize>().ok().map(|last| last + 1);
    Some(Range { start: start.parse().ok()?, end })
}

fn send(
    stream: &mut TcpStream,
    file: &File,
    fault: Fault,
    range: Range,
    shared: &Shared,
    stall: &Sender<()>,
) -> std::io::Result<()> {
    if let Some(to) = &file.moved_to {
        return head(stream, 302, &[format!("Location: {to}"), "Content-Length: 0".into()]);
    }
    let total = file.body.len();
    let (start, is_part) = (range.start, range.start > 0 || range.end.is_some());
    if let Fault::Status(status) = fault {
        return head(stream, status, &["Content-Length: 0".into()]);
    }
    if let Fault::Page = fault {
        let page = "<!DOCTYPE html><html><head><title>Sign in to the network</title></head></html>";
        let page = format!("{page}{}", " ".repeat(total.saturating_sub(page.len())));
        head(stream, 200, &[format!("Content-Length: {}", page.len())])?;
        return stream.write_all(page.as_bytes());
    }
    if start > 0 && start >= total {
        return head(stream, 416, &[format!("Content-Range: bytes */{total}"), "Content-Length: 0".into()]);
    }
    let begin = match fault {
        Fault::EarlyRange(by) if start > 0 => start.saturating_sub(by),
        _ => start,
    };
    let end = range.end.unwrap_or(total).clamp(begin, total);
    let body = &file.body[begin..end];
    let other = if fault == Fault::OtherValidator { "other" } else { "" };
    let mut headers = vec![format!("ETag: {}", file.etag.replacen('"', &format!("\"{other}"), 1))];
    if !matches!(fault, Fault::NoLength | Fault::CutNoLength(_)) {
        headers.push(format!("Content-Length: {}", body.len()));
    }
    if fault == Fault::LabelledGzip {
        headers.push("Content-Encoding: gzip".into());
    }
    if is_part {
        headers.push(format!("Content-Range: bytes {begin}-{}/{total}", end.saturating_sub(1)));
    }
    head(stream, if is_part { 206 } else { 200 }, &headers)?;
    let end = match fault {
        Fault::Cut(n) | Fault::CutNoLength(n) | Fault::Stall(n) => n.min(body.len()),
        _ => body.len(),
    };
    for chunk in body[..end].chunks(16 << 10) {
        stream.write_all(chunk)?;
        shared.sent.fetch_add(chunk.len() as u64, Ordering::SeqCst);
    }
    stream.flush()?;
    if let Fault::Stall(_) = fault {
        let _ = stall.send(());
        // Until the client ends the connection.
        let _ = stream.read(&mut [0]);
    }
    Ok(())
}

fn head(stream: &mut TcpStream, status: u16, headers: &[String]) -> std::io::Result<()> {
    let lines: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    stream.write_all(format!("HTTP/1.1 {status} x\r\n{lines}Connection: close\r\n\r\n").as_bytes())
}
