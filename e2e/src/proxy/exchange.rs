//! One request: through the rules, to the API server, and back.

use std::error::Error;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Request, Response, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, BodyStream, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, watch};

use super::record::Log;
use super::upstream::{Reply, Upstream, effect};
use super::wire::Connection;
use super::{Action, Answer, ApiRequest, Fault, Moment, Rule, Verb};

/// What all exchanges share.
pub(crate) struct Shared {
    pub(crate) upstream: Upstream,
    pub(crate) log: Log,
    pub(crate) rule: Mutex<Option<Rule>>,
    /// Whoever talks to the API server shares it meanwhile, so that a crash, which wants it alone, comes when
    /// nobody does.
    pub(crate) gate: Arc<RwLock<()>>,
    /// How many crashes there were: connections from before the last one are dead.
    pub(crate) crashes: AtomicU64,
}

/// The end of a connection without an answer.
#[derive(Debug)]
pub(crate) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the connection was cut")
    }
}

impl Error for Cut {}

pub(crate) type ReplyBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;
type Outcome = Result<Response<ReplyBody>, Cut>;

/// A request on its way.
pub(crate) struct Exchange {
    shared: Arc<Shared>,
    connection: Arc<Connection>,
    number: usize,
    request: ApiRequest,
}

/// Serves one request.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Outcome {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Cut)?.to_bytes();
    let request = ApiRequest::of(&head);
    let number = shared.log.arrive(request.clone());
    let exchange = Exchange { shared, connection, number, request };
    let outcome = exchange.run(&head, body).await?;
    let status = outcome.status().as_u16();
    exchange.shared.log.amend(number, |record| record.status = Some(status));
    Ok(outcome)
}

impl Exchange {
    async fn run(&self, head: &Parts, body: Bytes) -> Outcome {
        if let Some(fault) = self.ask(Moment::Arrived)
            && let Some(answer) = self.suffer(fault).await?
        {
            return Ok(answer);
        }
        if self.request.verb.is_write() { self.write(head, body).await } else { self.read(head, body).await }
    }

    async fn write(&self, head: &Parts, body: Bytes) -> Outcome {
        let reply = {
            let _pass = self.pass().await?;
            let before = self.shared.upstream.look(head, &self.request).await;
            let reply = self.shared.upstream.exchange(head, body).await.ok_or(Cut)?;
            let (effect, uid) = effect(&self.request, &before, &reply);
            self.shared.log.amend(self.number, |record| {
                (record.effect, record.uid) = (Some(effect), uid);
                record.status = Some(reply.status.as_u16());
            });
            reply
        };
        match self.ask(Moment::Committed) {
            Some(Fault::Truncate) => return Ok(truncated(&reply)),
            Some(fault) => {
                if let Some(answer) = self.suffer(fault).await? {
                    return Ok(answer);
                }
            }
            None => {}
        }
        match self.ask(Moment::Replied) {
            Some(Fault::Hold(action)) => self.after_reply(action, None),
            Some(Fault::Crash(action)) => self.after_reply(action, Some(self.stop().await?)),
            _ => {}
        }
        let connection = self.connection.clone();
        let body = Full::new(reply.body).map_frame(move |frame| {
            connection.end_answer();
            frame
        });
        Ok(response(reply.status, &reply.headers, boxed(body)))
    }

    async fn read(&self, head: &Parts, body: Bytes) -> Outcome {
        let answer = {
            let _pass = self.pass().await?;
            self.shared.upstream.forward(head, body).await.ok_or(Cut)?
        };
        let status = answer.status();
        match self.ask(Moment::Committed) {
            Some(Fault::Truncate) => return Ok(truncated(&Reply::of(answer).await.ok_or(Cut)?)),
            Some(Fault::EndWatch(after)) if self.request.verb == Verb::Watch => {
                let (head, body) = answer.into_parts();
                return Ok(response(status, &head.headers, ending(body, after)));
            }
            Some(Fault::HoldWatch(is_held)) if self.request.verb == Verb::Watch => {
                let (head, body) = answer.into_parts();
                return Ok(response(status, &head.headers, holding(body, is_held)));
            }
            Some(fault) => {
                if let Some(answer) = self.suffer(fault).await? {
                    return Ok(answer);
                }
            }
            None => {}
        }
        let (head, body) = answer.into_parts();
        Ok(response(status, &head.headers, boxed(body)))
    }

    /// What the rule wants at a moment.
    fn ask(&self, moment: Moment) -> Option<Fault> {
        let rule = self.shared.rule.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let fault = rule(moment, &self.shared.log.get(self.number)?)?;
        self.shared.log.amend(self.number, |record| record.fault = Some(fault.name()));
        Some(fault)
    }

    /// Does to the request what can be done before its answer. Nothing as outcome means that it goes on.
    async fn suffer(&self, fault: Fault) -> Result<Option<Response<ReplyBody>>, Cut> {
        match fault {
            Fault::Answer(answer) => return Ok(Some(made_up(&answer))),
            Fault::Reset => {
                self.connection.reset();
                self.shared.log.amend(self.number, |record| record.status = None);
                return Err(Cut);
            }
            Fault::Delay(length) => tokio::time::sleep(length).await,
            Fault::Hold(action) => action().await,
            Fault::Crash(action) => {
                let _world = self.stop().await?;
                self.shared.log.amend(self.number, |record| record.status = None);
                action().await;
                self.shared.crashes.fetch_add(1, Ordering::SeqCst);
                return Err(Cut);
            }
            Fault::Truncate | Fault::EndWatch(_) | Fault::HoldWatch(_) => {}
        }
        Ok(None)
    }

    /// The right to talk to the API server.
    async fn pass(&self) -> Result<OwnedRwLockReadGuard<()>, Cut> {
        let pass = self.shared.gate.clone().read_owned().await;
        self.check_alive()?;
        Ok(pass)
    }

    /// Lets nobody else talk to the API server.
    async fn stop(&self) -> Result<OwnedRwLockWriteGuard<()>, Cut> {
        let world = self.shared.gate.clone().write_owned().await;
        self.check_alive()?;
        Ok(world)
    }

    fn check_alive(&self) -> Result<(), Cut> {
        let crashes = self.shared.crashes.load(Ordering::SeqCst);
        if crashes == self.connection.epoch { Ok(()) } else { Err(Cut) }
    }

    /// Runs an action once the answer is with the client. With a stopped world, it is a crash.
    fn after_reply(&self, action: Action, world: Option<OwnedRwLockWriteGuard<()>>) {
        let sent = self.connection.sent();
        let shared = self.shared.clone();
        tokio::spawn(async move {
            // An error means that the connection is gone, and there is nothing to wait for.
            let _ = sent.await;
            action().await;
            if let Some(world) = world {
                shared.crashes.fetch_add(1, Ordering::SeqCst);
                drop(world);
            }
        });
    }
}

fn boxed<B>(body: B) -> ReplyBody
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    body.map_err(Into::into).boxed_unsync()
}

/// An answer of the API server, without what belongs to its connection.
fn response(status: http::StatusCode, headers: &HeaderMap, body: ReplyBody) -> Response<ReplyBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers.clone();
    for name in [header::CONNECTION, header::TRANSFER_ENCODING] {
        response.headers_mut().remove(name);
    }
    response
}

fn made_up(answer: &Answer) -> Response<ReplyBody> {
    let mut response = Response::new(boxed(Full::new(answer.body.clone())));
    *response.status_mut() = answer.status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    if let Some(seconds) = answer.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Half of an answer that promises the whole.
fn truncated(reply: &Reply) -> Response<ReplyBody> {
    let half = reply.body.slice(..reply.body.len() / 2);
    let frames = [Ok(Frame::data(half)), Err(Cut)];
    let mut response =
        response(reply.status, &reply.headers, boxed(StreamBody::new(futures::stream::iter(frames))));
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(reply.body.len()));
    response
}

fn ending(body: Incoming, after: Duration) -> ReplyBody {
    boxed(StreamBody::new(BodyStream::new(body).take_until(tokio::time::sleep(after))))
}

fn holding(body: Incoming, is_held: watch::Receiver<bool>) -> ReplyBody {
    let frames = BodyStream::new(body).then(move |frame| {
        let mut is_held = is_held.clone();
        async move {
            // Whoever holds frames back and goes away lets them go.
            let _ = is_held.wait_for(|is_held| !is_held).await;
            frame
        }
    });
    boxed(StreamBody::new(frames))
}
