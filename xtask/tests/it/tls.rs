//! Encryption: whom xtask trusts, which proxy it takes, and that it never goes from https to http.

use crate::support::{BOOTSTRAP, Fault, Run, Server, Tls, World, dist_members, lock, sha256, tar_gz};

struct Scene {
    server: Server,
    tls: Tls,
    world: World,
}

/// A world whose lock names `https://<host>/dist.tar.gz`; `{port}` stands for the server's.
fn scene(host: &str) -> Scene {
    let server = Server::start();
    let tls = Tls::before(server.address(), &["localhost", "dist.example"]);
    let archive = tar_gz("", &dist_members());
    server.offer("dist.tar.gz", &archive, Fault::None);
    let url = format!("https://{}/dist.tar.gz", host.replace("{port}", &tls.port().to_string()));
    let world = World::with_lock(&lock(&[(&url, &sha256(&archive), Some(archive.len()))]));
    tls.write_authority(&world.path("ca.pem"));
    Scene { server, tls, world }
}

impl Scene {
    fn run(&self, environment: &[(&str, &str)]) -> Run {
        let mut command = self.world.command(&BOOTSTRAP);
        let run = self.world.ended(command.envs(environment.iter().copied()).output().expect("xtask starts"));
        Run { stderr: run.stderr.replace(&self.tls.port().to_string(), "[PORT]"), ..run }
    }

    fn authority(&self) -> String {
        self.world.path("ca.pem").display().to_string()
    }
}

#[test]
fn an_authority_of_the_network_is_trusted_when_it_is_named_and_no_other() {
    let scene = scene("localhost:{port}");
    let run = scene.run(&[]).exits(4);
    let last =
        run.stderr.lines().skip_while(|line| !line.starts_with("error:")).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(last);
    assert_eq!(scene.server.request_count(), 0, "not a byte was asked for");
    scene.run(&[("SSL_CERT_FILE", &scene.authority())]).exits(0);
}

#[test]
fn a_redirect_from_https_to_http_is_refused() {
    let scene = scene("localhost:{port}");
    let plain = format!("{}/dist.tar.gz", scene.server.address());
    scene.server.redirect("dist.tar.gz", &plain);
    let run = scene.run(&[("SSL_CERT_FILE", &scene.authority())]).exits(4);
    assert!(run.stderr.contains("away from https"), "{}", run.stderr);
    assert_eq!(scene.server.request_count(), 1, "the plain address was not asked");
}

#[test]
fn a_redirect_within_https_is_followed() {
    let scene = scene("localhost:{port}");
    let archive = tar_gz("", &dist_members());
    scene.server.offer("moved.tar.gz", &archive, Fault::None);
    scene.server.redirect("dist.tar.gz", "/moved.tar.gz");
    scene.run(&[("SSL_CERT_FILE", &scene.authority())]).exits(0);
}

#[test]
fn redirects_that_never_end_are_given_up() {
    let scene = scene("localhost:{port}");
    scene.server.redirect("dist.tar.gz", "dist.tar.gz");
    let run = scene.run(&[("SSL_CERT_FILE", &scene.authority())]).exits(4);
    assert!(run.stderr.contains("redirects more than 10 times"), "{}", run.stderr);
}

#[test]
fn the_proxy_of_the_environment_is_used() {
    let scene = scene("dist.example");
    let proxy = format!("http://127.0.0.1:{}", scene.tls.port());
    let authority = scene.authority();
    // Nobody knows this host but the proxy.
    let without =
        [("SSL_CERT_FILE", authority.as_str()), ("HTTPS_PROXY", &proxy), ("NO_PROXY", "dist.example")];
    scene.run(&without).exits(4);
    assert_eq!(scene.tls.connects(), 0);
    scene.run(&without[..2]).exits(0);
    assert_eq!(scene.tls.connects(), 1);
}
