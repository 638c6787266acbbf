//! Encryption in front of the plain server, with a certificate authority of the test's own, and a proxy that leads there.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A port of this machine that speaks TLS for the given names, and answers CONNECT as a proxy does.
pub(crate) struct Tls {
    port: u16,
    authority: String,
    connects: Arc<AtomicUsize>,
}

impl Tls {
    /// Passes every request on to the plain server at `to` (`http://…`).
    pub(crate) fn before(to: &str, names: &[&str]) -> Self {
        let (authority, config) = config(names);
        let to = to.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let port = listener.local_addr().expect("address").port();
        let connects = Arc::new(AtomicUsize::new(0));
        let counted = connects.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, to, counted) = (config.clone(), to.clone(), counted.clone());
                // A client that does not trust us ends the connection; that is what some tests are about.
                std::thread::spawn(move || drop(serve(stream, config, &to, &counted)));
            }
        });
        Self { port, authority, connects }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// How often a client has asked for a tunnel.
    pub(crate) fn connects(&self) -> usize {
        self.connects.load(Ordering::SeqCst)
    }

    /// Writes the authority's certificate, which makes this server trusted.
    pub(crate) fn write_authority(&self, path: &Path) {
        std::fs::write(path, &self.authority).expect("write");
    }
}

fn config(names: &[&str]) -> (String, Arc<ServerConfig>) {
    let mut params = CertificateParams::new(Vec::new()).expect("params");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("key")).expect("authority");
    let key = KeyPair::generate().expect("key");
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let leaf = CertificateParams::new(names).expect("names").signed_by(&key, &issuer).expect("certificate");
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .expect("a certificate");
    (issuer.pem(), Arc::new(config))
}

fn serve(
    mut stream: TcpStream,
    config: Arc<ServerConfig>,
    to: &str,
    connects: &AtomicUsize,
) -> std::io::Result<()> {
    let mut first = [0];
    stream.peek(&mut first)?;
    if first == *b"C" {
        head(&mut stream)?;
        connects.fetch_add(1, Ordering::SeqCst);
        stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
    }
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut tls = StreamOwned::new(connection, stream);
    let request = head(&mut tls)?;
    let mut plain = TcpStream::connect(to)?;
    plain.write_all(&request)?;
    std::io::copy(&mut plain, &mut tls)?;
    tls.conn.send_close_notify();
    tls.flush()?;
    tls.sock.shutdown(Shutdown::Write)
}

/// Everything to the empty line.
fn head(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(head)
}
