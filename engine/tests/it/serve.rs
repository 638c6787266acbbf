//! `strata serve` under load, and how it ends.
#![cfg(target_os = "linux")] // memory is read from /proc

use crate::programs::{model, strata};
use crate::support::{DEADLINE, Server};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::Command;
use std::time::Instant;
use tempfile::TempDir;

/// A server of the tests' model, and the folder that it lies in.
fn serve(arguments: &[&str]) -> (Server, TempDir) {
    let (folder, path) = model();
    let mut command = strata();
    command.arg("serve").arg(path).args(["--port", "0", "--threads", "1"]).args(arguments);
    (Server::start(&mut command), folder)
}

impl Server {
    /// Asks for a streamed completion.
    fn ask(&self, tokens: usize) -> TcpStream {
        let body = format!(
            r#"{{"prompt": "some words", "max_tokens": {tokens}, "stream": true, "seed": {tokens}}}"#
        );
        self.send("POST /v1/completions HTTP/1.1\r\nContent-Type: application/json", &body)
    }

    fn metric(&self, name: &str) -> u64 {
        let text = self.answer("GET /metrics HTTP/1.1", "");
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} "))).expect(name);
        line.parse().expect("a number")
    }

    /// Asks again and again until nothing runs.
    fn wait_until_idle(&self) {
        let start = Instant::now();
        while self.metric("strata_requests_running") + self.metric("strata_requests_waiting") > 0 {
            assert!(start.elapsed() < DEADLINE, "requests hang");
        }
    }

    /// Resident bytes.
    fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
    }

    fn terminate(&self) {
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(kill.expect("kill starts").success());
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

/// 200 at once; every second client is gone after its first part.
fn storm(server: &Server) {
    std::thread::scope(|scope| {
        for client in 0..200 {
            scope.spawn(move || {
                let mut stream = server.ask(100 + client % 50);
                if client % 2 == 0 {
                    let mut some = [0; 200];
                    let _ = stream.read(&mut some).expect("a first part");
                    let _ = stream.shutdown(Shutdown::Both);
                } else {
                    let mut text = String::new();
                    stream.read_to_string(&mut text).expect("an answer");
                    assert!(text.contains("data: [DONE]"), "client {client}: {text}");
                }
            });
        }
    });
    server.wait_until_idle();
}

#[test]
fn two_hundred_clients_of_which_half_leave() {
    let (server, _folder) = serve(&["--parallel", "8"]);
    storm(&server);
    let memory = server.memory();
    for round in 2..=3 {
        storm(&server);
        let done = server.metric("strata_requests_finished_total")
            + server.metric("strata_requests_cancelled_total");
        assert_eq!(done, 200 * round);
    }
    assert!(server.metric("strata_requests_cancelled_total") > 0, "a client that leaves ends its work");
    let growth = server.memory().saturating_sub(memory);
    println!("{} MiB resident, {} KiB more after two more rounds", memory >> 20, growth >> 10);
    assert!(growth < 8 << 20, "{growth} bytes more after two more rounds");
}

#[test]
fn what_is_wrong_gets_its_status() {
    let (server, _folder) = serve(&["--max-body", "1000", "--api-key", "secret", "--name", "model"]);
    let post = "POST /v1/completions HTTP/1.1\r\nAuthorization: Bearer secret";
    let json = &format!("{post}\r\nContent-Type: application/json")[..];
    let table = [
        ("GET /health HTTP/1.1", String::new(), "200"),
        ("GET /v1/models HTTP/1.1", String::new(), "401"),
        ("GET /v1/models HTTP/1.1\r\nAuthorization: Bearer secrex", String::new(), "401"),
        ("GET /v1/models HTTP/1.1\r\nAuthorization: Bearer secret", String::new(), "200"),
        ("GET /v1/models HTTP/1.1\r\nAuthorization: bearer  secret", String::new(), "200"),
        ("GET /v1/models/model HTTP/1.1\r\nAuthorization: Bearer secret", String::new(), "200"),
        ("GET /v1/models/other HTTP/1.1\r\nAuthorization: Bearer secret", String::new(), "404"),
        ("POST /v1/models HTTP/1.1\r\nAuthorization: Bearer secret", String::new(), "405"),
        ("GET /nothing HTTP/1.1\r\nAuthorization: Bearer secret", String::new(), "404"),
        ("GET /v1/completions HTTP/1.1\r\nAuthorization: Bearer secret", String::new(), "405"),
        (post, "{}".to_owned(), "415"),
        (json, "{".to_owned(), "400"),
        (json, format!(r#"{{"prompt": "{}"}}"#, "x".repeat(2000)), "413"),
        (json, format!(r#"{{"prompt": "{}"}}"#, "x".repeat(300)), "400"),
        (json, r#"{"prompt": [999]}"#.to_owned(), "400"),
        (json, r#"{"prompt": "abc", "max_tokens": 2}"#.to_owned(), "200"),
        ("NONSENSE", String::new(), "400"),
    ];
    for (head, body, expected) in table {
        let answer = server.answer(head, &body);
        assert_eq!(status(&answer), expected, "{head} {body}: {answer}");
        let answer = answer.to_ascii_lowercase();
        assert_eq!(answer.contains("www-authenticate: bearer\r\n"), expected == "401", "{answer}");
        assert!(
            expected != "405"
                || answer.contains(if head.starts_with("GET") {
                    "allow: post\r\n"
                } else {
                    "allow: get\r\n"
                }),
            "{answer}"
        );
    }
}

/// The text of a greedy completion, and how many tokens of the prompt were not computed again.
fn continued(server: &Server, prompt: &str) -> (String, u64) {
    let body = serde_json::json!({"prompt": prompt, "max_tokens": 12, "temperature": 0});
    let head = "POST /v1/completions HTTP/1.1\r\nContent-Type: application/json";
    let answer = server.answer(head, &body.to_string());
    let body = answer.split("\r\n\r\n").nth(1).expect("a body");
    let object: serde_json::Value = serde_json::from_str(body).expect("one object");
    let text = object["choices"][0]["text"].as_str().expect("a text").to_owned();
    (text, object["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().expect("a number"))
}

#[test]
fn what_a_conversation_has_said_is_not_computed_again() {
    let (server, _folder) = serve(&["--parallel", "2"]);
    let first = "a conversation that begins with this";
    let (text, reused) = continued(&server, first);
    assert_eq!(reused, 0);
    let next = format!("{first}, and goes on");
    let (_, of_another) = continued(&server, "something else");
    let (with, reused) = continued(&server, &next);
    // A token a byte, and what comes before the first.
    assert!(of_another < 3 && reused as usize >= first.len(), "{of_another} {reused}");
    assert_eq!(continued(&server, first).0, text, "the same text with less work");
    let (fresh, _folder) = serve(&[]);
    assert_eq!(continued(&fresh, &next), (with, 0), "as if everything had been computed");
    assert!(server.metric("strata_prompt_tokens_reused_total") >= reused);
}

/// One runs, three wait, and the others are told at once, however close they come.
#[test]
fn a_full_queue_says_so() {
    let (server, _folder) = serve(&["--parallel", "1", "--queue", "3"]);
    let taken = std::thread::scope(|scope| {
        let ask = || {
            let mut stream = server.ask(240);
            let mut start = [0; 512];
            let count = stream.read(&mut start).expect("a head");
            (stream, String::from_utf8_lossy(&start[..count]).into_owned())
        };
        let asked: Vec<_> = (0..50).map(|_| scope.spawn(ask)).collect();
        let answers: Vec<_> = asked.into_iter().map(|asked| asked.join().expect("an answer")).collect();
        let refused = answers.iter().filter(|(_, answer)| status(answer) == "429");
        for (_, answer) in refused {
            assert!(answer.to_ascii_lowercase().contains("retry-after: 1\r\n"), "{answer}");
        }
        answers.iter().filter(|(_, answer)| status(answer) == "200").count() as u64
    });
    // One more for each that ended before the last one came.
    let ended =
        server.metric("strata_requests_finished_total") + server.metric("strata_requests_cancelled_total");
    assert!((4..=4 + ended).contains(&taken) && taken < 50, "{taken} taken, {ended} ended");
}

/// Without a queue whoever finds a slot is answered, again and again.
#[test]
fn an_idle_server_without_a_queue_answers() {
    let (server, _folder) = serve(&["--parallel", "1", "--queue", "0"]);
    let head = "POST /v1/completions HTTP/1.1\r\nContent-Type: application/json";
    for _ in 0..20 {
        let answer = server.answer(head, r#"{"prompt": "x", "max_tokens": 2}"#);
        assert_eq!(status(&answer), "200", "{answer}");
    }
}

/// A request whose text is still to come keeps the server; who comes meanwhile is told that it stops.
#[test]
fn while_it_stops_it_says_so() {
    let (mut server, _folder) = serve(&[]);
    let mut late = TcpStream::connect(&server.address).expect("a connection");
    let body = r#"{"prompt": "x", "max_tokens": 2}"#;
    let head =
        "POST /v1/completions HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: application/json";
    write!(late, "{head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len()).expect("sent");
    let mut goes_on = [0; 25];
    late.read_exact(&mut goes_on).expect("it wants the text");
    assert!(goes_on.starts_with(b"HTTP/1.1 100 "));
    server.terminate();
    let start = Instant::now();
    while status(&server.answer("GET /health HTTP/1.1", "")) != "503" {
        assert!(start.elapsed() < DEADLINE, "it does not stop");
    }
    let answer = server.answer("POST /v1/completions HTTP/1.1\r\nContent-Type: application/json", body);
    assert!(status(&answer) == "503" && answer.contains("\"stopping\""), "{answer}");
    late.write_all(body.as_bytes()).expect("sent");
    let mut answer = String::new();
    late.read_to_string(&mut answer).expect("an answer");
    assert_eq!(status(&answer), "200", "{answer}");
    assert!(server.child.wait().expect("it ends").success());
}

#[test]
fn told_to_stop_it_finishes_what_runs() {
    let (mut server, _folder) = serve(&[]);
    let mut running = server.ask(200);
    let mut first = [0; 64];
    let count = running.read(&mut first).expect("a first part");
    assert!(count > 0);
    server.terminate();
    assert!(server.talk.get_mut().expect("no panic").any(|line| line.starts_with("stopping")), "it says so");
    let mut rest = String::new();
    running.read_to_string(&mut rest).expect("the rest");
    assert!(rest.contains("data: [DONE]"), "{rest}");
    let status = server.child.wait().expect("it ends");
    assert!(status.success(), "{status}");
    assert!(TcpStream::connect(&server.address).is_err(), "nobody listens any more");
}
