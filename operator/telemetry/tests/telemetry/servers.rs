//! Both servers over loopback, asked by threads that know nothing of the runtime.

use std::{
    collections::VecDeque,
    error::Error as _,
    io::{ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use operator_telemetry::{
    Health, InstanceInfo, ListenAddress, Metrics, Phase, ServerError, ServerSettings, Servers,
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::oneshot,
    task::spawn_blocking,
    time::{Instant, sleep},
};

use crate::exposition::{Exposition, instance, metrics};

/// How long a test waits for an answer before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// Servers on free ports.
struct Running {
    runtime: Runtime,
    metrics: SocketAddr,
    health: SocketAddr,
    phase: Health,
    stop: oneshot::Sender<()>,
    ended: oneshot::Receiver<()>,
}

fn loopback() -> ListenAddress {
    "127.0.0.1:0".parse().unwrap()
}

fn start() -> Running {
    let metrics = metrics();
    metrics.set_instance(&instance("a"));
    start_with(metrics)
}

fn start_with(exposed: Metrics) -> Running {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let settings = ServerSettings { metrics: loopback(), health: loopback() };
    let phase = Health::default();
    let servers = runtime.block_on(Servers::bind(&settings, exposed, phase.clone())).unwrap();
    let (metrics, health) = (servers.metrics_address().unwrap(), servers.health_address().unwrap());
    let (stop, stopped) = oneshot::channel();
    let (end, ended) = oneshot::channel();
    runtime.spawn(async move {
        servers
            .run(async {
                let _ = stopped.await;
            })
            .await;
        end.send(())
    });
    Running { runtime, metrics, health, phase, stop, ended }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&address, PATIENCE).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// What the server says until it closes the connection; a reset is an end, too.
fn rest(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
    }
    String::from_utf8(answer).unwrap()
}

fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).unwrap();
    rest(&mut stream)
}

fn request(method: &str, path: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nhost: x\r\n\r\n")
}

/// Status line, headers, body.
fn parts(answer: &str) -> (&str, &str, &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    let (status, headers) = head.split_once("\r\n").unwrap();
    (status, headers, body)
}

#[test]
fn metrics_are_served_in_the_text_format() {
    let running = start();
    let answer = ask(running.metrics, &request("GET", "/metrics"));
    let (status, headers, body) = parts(&answer);
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(headers.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{headers}");
    assert!(headers.contains("connection: close"), "{headers}");
    let exposition = Exposition::parse(body);
    assert_eq!(exposition.labels("flux_instance_info").len(), 1);
    assert_eq!(exposition.labels("flux_operator_info").len(), 1);
}

#[test]
fn a_server_answers_what_it_is_there_for_and_nothing_else() {
    let running = start();
    let body = "a".repeat(1_000);
    let with_body = |method: &str, path: &str| {
        format!("{method} {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{body}")
    };
    for (address, request, status) in [
        (running.metrics, request("HEAD", "/metrics"), "200 OK"),
        (running.metrics, request("POST", "/metrics"), "405 Method Not Allowed"),
        (running.metrics, request("DELETE", "/metrics"), "405 Method Not Allowed"),
        (running.metrics, with_body("POST", "/metrics"), "405 Method Not Allowed"),
        (running.metrics, request("GET", "/"), "404 Not Found"),
        (running.metrics, request("GET", "/debug/pprof/"), "404 Not Found"),
        (running.metrics, request("GET", "/metrics/../metrics"), "404 Not Found"),
        (running.metrics, request("GET", "/healthz"), "404 Not Found"),
        (running.metrics, "odd\r\n\r\n".to_owned(), "400 Bad Request"),
        (running.health, request("GET", "/healthz?verbose=1"), "200 OK"),
        (running.health, request("HEAD", "/healthz"), "200 OK"),
        (running.health, request("PUT", "/readyz"), "405 Method Not Allowed"),
        (running.health, request("GET", "/metrics"), "404 Not Found"),
    ] {
        let answer = ask(address, &request);
        assert_eq!(parts(&answer).0, format!("HTTP/1.1 {status}"), "{request}");
        assert!(!request.starts_with("HEAD") || parts(&answer).2.is_empty(), "{answer}");
    }
}

#[test]
fn probes_follow_the_life_of_the_process() {
    let running = start();
    for (phase, ready, word) in [
        (Phase::Starting, "503 Service Unavailable", "starting"),
        (Phase::Waiting, "200 OK", "ok"),
        (Phase::Leading, "200 OK", "ok"),
        (Phase::Stopping, "503 Service Unavailable", "stopping"),
    ] {
        running.phase.set(phase);
        let answer = ask(running.health, &request("GET", "/readyz"));
        assert_eq!((parts(&answer).0, parts(&answer).2), (format!("HTTP/1.1 {ready}").as_str(), word));
        let alive = ask(running.health, &request("GET", "/healthz"));
        assert_eq!((parts(&alive).0, parts(&alive).2), ("HTTP/1.1 200 OK", "ok"));
    }
}

#[test]
fn a_connection_is_for_one_request() {
    let running = start();
    let twice = request("GET", "/healthz").repeat(2);
    assert_eq!(ask(running.health, &twice).matches("HTTP/1.1 ").count(), 1);
}

#[test]
fn a_huge_request_gets_no_memory() {
    let running = start();
    for request in [
        format!("GET /metrics HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "a".repeat(1 << 20)),
        format!("GET /{} HTTP/1.1\r\nhost: x\r\n\r\n", "a".repeat(1 << 20)),
        format!("GET /metrics HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(100_000)),
        "a".repeat(1 << 20),
    ] {
        let mut stream = connect(running.metrics);
        // The server may close before it took all.
        let _ = stream.write_all(request.as_bytes());
        let answer = rest(&mut stream);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let above = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "a".repeat(24_000));
    assert_eq!(ask(running.health, &above), "");
    let fits = format!("GET /healthz HTTP/1.1\r\nhost: x\r\nx: {}\r\n\r\n", "a".repeat(8_000));
    assert_eq!(parts(&ask(running.health, &fits)).0, "HTTP/1.1 200 OK");
}

#[test]
fn a_thousand_silent_connections_do_not_keep_a_probe_from_its_answer() {
    let running = start();
    let mut silent = VecDeque::new();
    for count in 0..1_000 {
        let mut stream = connect(running.health);
        stream.write_all(b"GET /hea").unwrap();
        silent.push_back(stream);
        if count % 100 == 99 {
            assert_eq!(parts(&ask(running.health, &request("GET", "/healthz"))).0, "HTTP/1.1 200 OK");
        }
        // So many that the test itself does not run out of files; more than the server holds.
        if silent.len() > 200 {
            silent.pop_front();
        }
    }
    assert_eq!(rest(&mut silent[0]), "", "the oldest ones are closed");
}

/// A runtime whose clock jumps to the next deadline as soon as nothing else is to be done.
fn with_jumping_clock(client: impl FnOnce(SocketAddr) + Send + 'static) -> Duration {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let settings = ServerSettings { metrics: loopback(), health: ListenAddress::Off };
        let servers = Servers::bind(&settings, metrics(), Health::default()).await.unwrap();
        let address = servers.metrics_address().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let begin = Instant::now();
        let client = thread::spawn(move || {
            client(address);
            drop(stop);
        });
        servers
            .run(async {
                let _ = stopped.await;
            })
            .await;
        let took = begin.elapsed();
        client.join().unwrap();
        took
    })
}

#[test]
fn a_client_that_sends_slowly_is_left() {
    let took = with_jumping_clock(|address| {
        let mut stream = connect(address);
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: x\r\n").unwrap();
        assert_eq!(rest(&mut stream), "", "closed without an answer");
    });
    assert!(took >= Duration::from_secs(10), "{took:?}");
}

#[test]
fn servers_stop_when_told_and_wait_for_nobody_long() {
    let Running { runtime, health, stop, ended, .. } = start();
    let mut silent = connect(health);
    silent.write_all(b"GET /hea").unwrap();
    assert_eq!(parts(&ask(health, &request("GET", "/healthz"))).0, "HTTP/1.1 200 OK");
    drop(stop);
    runtime.block_on(async { tokio::time::timeout(PATIENCE, ended).await }).unwrap().unwrap();
    assert_eq!(rest(&mut silent), "", "open connections end");
    assert!(TcpStream::connect(health).is_err(), "the port is free");
}

/// Metrics of so many bytes that no socket buffers them: the server waits for its client to read.
fn many_metrics() -> Metrics {
    let metrics = metrics();
    for uid in 0..20_000 {
        let revision = "r".repeat(1_000);
        metrics.set_instance(&InstanceInfo { revision, ..instance(&uid.to_string()) });
    }
    metrics
}

#[test]
fn a_response_that_is_under_way_is_finished_after_the_stop() {
    let Running { metrics, stop, runtime, ended, .. } = start_with(many_metrics());
    let mut stream = connect(metrics);
    stream.write_all(request("GET", "/metrics").as_bytes()).unwrap();
    stream.read_exact(&mut [0; 1]).unwrap();
    drop(stop);
    let answer = format!("H{}", rest(&mut stream));
    assert!(!is_cut(&answer));
    runtime.block_on(ended).unwrap();
}

/// What a client got that did not read before the server ended, and how long the server ran that was told
/// to stop after a time. The clock jumps to the next deadline as soon as nothing else is to be done.
fn run_with_client_that_does_not_read(stop_after: Duration) -> (String, Duration) {
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let settings = ServerSettings { metrics: loopback(), health: ListenAddress::Off };
    runtime.block_on(async {
        let servers = Servers::bind(&settings, many_metrics(), Health::default()).await.unwrap();
        // The request is there before the clock can jump.
        let mut stream = connect(servers.metrics_address().unwrap());
        stream.write_all(request("GET", "/metrics").as_bytes()).unwrap();
        let begin = Instant::now();
        servers.run(sleep(stop_after)).await;
        let took = begin.elapsed();
        (spawn_blocking(move || rest(&mut stream)).await.unwrap(), took)
    })
}

/// The response began, and its end is missing.
fn is_cut(answer: &str) -> bool {
    let (status, headers, body) = parts(answer);
    assert_eq!(status, "HTTP/1.1 200 OK");
    !headers.contains(&format!("content-length: {}\r\n", body.len()))
}

#[test]
fn a_client_that_reads_slowly_is_left() {
    let (answer, took) = run_with_client_that_does_not_read(Duration::from_secs(11));
    assert!(is_cut(&answer));
    assert!(took < Duration::from_secs(12), "nothing was open at the stop: {took:?}");
}

#[test]
fn a_client_that_reads_slowly_holds_the_stop_up_for_two_seconds() {
    let (answer, took) = run_with_client_that_does_not_read(Duration::from_secs(1));
    assert!(is_cut(&answer));
    assert!((Duration::from_secs(3)..Duration::from_secs(4)).contains(&took), "{took:?}");
}

#[test]
fn a_port_in_use_is_named_with_its_flag() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: ListenAddress = taken.local_addr().unwrap().to_string().parse().unwrap();
    for (flag, settings) in [
        ("--metrics-addr", ServerSettings { metrics: address.clone(), health: ListenAddress::Off }),
        ("--health-addr", ServerSettings { metrics: ListenAddress::Off, health: address.clone() }),
    ] {
        let bound = runtime.block_on(Servers::bind(&settings, metrics(), Health::default()));
        let error = bound.unwrap_err();
        let expected = format!(
            "failed to listen on `{address}`: set {flag} to a free port such as `:18080`, or to `0` for no server"
        );
        assert_eq!(error.to_string(), expected);
        let ServerError::Bind { source, .. } = &error;
        assert_eq!(source.kind(), ErrorKind::AddrInUse);
        assert!(error.source().is_some());
    }
}

#[test]
fn servers_that_are_off_take_no_port_and_stop_like_others() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let settings = ServerSettings { metrics: ListenAddress::Off, health: ListenAddress::Off };
    runtime.block_on(async {
        let servers = Servers::bind(&settings, metrics(), Health::default()).await.unwrap();
        assert_eq!((servers.metrics_address(), servers.health_address()), (None, None));
        servers.run(std::future::ready(())).await;
    });
}

#[test]
fn every_address_of_the_machine_includes_loopback() {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let settings = ServerSettings { metrics: ListenAddress::Off, health: ":0".parse().unwrap() };
    let servers = runtime.block_on(Servers::bind(&settings, metrics(), Health::default())).unwrap();
    let port = servers.health_address().unwrap().port();
    runtime.spawn(servers.run(std::future::pending()));
    let answer = ask(SocketAddr::from(([127, 0, 0, 1], port)), &request("GET", "/healthz"));
    assert_eq!(parts(&answer).0, "HTTP/1.1 200 OK");
}
