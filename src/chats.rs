//! The Durable Object that owns the turns of one session. A turn goes on when its client leaves, and other clients can come
//! back to its stream.

use crate::app::App;
use crate::error::{Error, Refusal, Result};
use crate::playground::{Owner, OwnerRequest, STREAM_HEADERS, Turn};
use crate::upkeep;
use futures_util::future::select;
use futures_util::stream::{Stream, StreamExt};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use worker::{
    Delay, DurableObject, Env, Request, Response, ResponseBuilder, State, console_error, durable_object, wasm_bindgen,
};

const OK: u16 = 200;
const NO_CONTENT: u16 = 204;

/// How long a request to stop waits for the end of the turn.
const STOP_WAIT: Duration = Duration::from_secs(20);

#[durable_object(alarm)]
pub struct Chat {
    state: Rc<State>,
    env: Env,
    owner: Owner,
}

impl DurableObject for Chat {
    fn new(state: State, env: Env) -> Self {
        let state = Rc::new(state);
        Self { owner: Owner::new(env.clone(), state.clone()), state, env }
    }

    async fn fetch(&self, mut request: Request) -> worker::Result<Response> {
        let asked = serde_json::from_str::<OwnerRequest>(&request.text().await?)?;
        let answered = self.answer(asked).await;
        // Something that had the seat may have kept a decided approval waiting.
        self.go_on(self.owner.go_on_if_decided().await);
        match answered {
            Ok(Answer::Nothing) => Ok(Response::empty()?.with_status(NO_CONTENT)),
            Ok(Answer::Document(text)) => json(OK, text),
            Ok(Answer::Stream(response)) => Ok(response),
            Err(error) => {
                let refusal = serde_json::to_string(&Refusal::from(&error))?;
                json(error.status().as_u16(), refusal)
            }
        }
    }

    async fn alarm(&self) -> worker::Result<Response> {
        match self.owner.look_after().await {
            Ok(turn) => turn.into_iter().for_each(|it| self.carry_on(it)),
            Err(cause) => {
                console_error!("the object does not look after its turns: {cause:?}");
                // The storage has not even taken the next alarm. The throw has the platform repeat this one.
                return Err(worker::Error::RustError("the object does not look after its turns".into()));
            }
        }
        self.go_on(self.owner.go_on_if_decided().await);
        Response::empty()
    }
}

/// What the object answers.
enum Answer {
    Nothing,
    Document(String),
    Stream(Response),
}

impl Chat {
    async fn answer(&self, asked: OwnerRequest) -> Result<Answer> {
        match asked {
            OwnerRequest::Turn(order) => {
                let is_whole = order.is_whole;
                let turn = self.owner.begin(*order).await?;
                if is_whole {
                    return self.whole(turn).await.map(Answer::Document);
                }
                // The client listens before the turn runs, and misses nothing.
                let events = turn.live.listen();
                self.carry_on(turn);
                stream(events?)
            }
            OwnerRequest::Stream => match self.owner.live() {
                Some(live) => stream(live.listen_again()?),
                None => Ok(Answer::Nothing),
            },
            OwnerRequest::Stop => {
                if let Some(live) = self.owner.stop().await? {
                    let _ = select(pin!(live.ended()), Delay::from(STOP_WAIT)).await;
                }
                Ok(Answer::Nothing)
            }
            OwnerRequest::GoOn { message_id } => {
                self.go_on(self.owner.go_on(message_id).await);
                Ok(Answer::Nothing)
            }
            OwnerRequest::CheckOut { caller, session, message } => {
                let scope = caller.scope(App::new(self.env.clone())?);
                self.owner.check_out(&scope, &session, &message).await?;
                Ok(Answer::Nothing)
            }
            OwnerRequest::SessionDeleted { generation } => {
                self.owner.session_deleted(generation).await?;
                Ok(Answer::Nothing)
            }
        }
    }

    /// Runs the turn, and returns its message at its end.
    async fn whole(&self, turn: Turn) -> Result<String> {
        let live = turn.live.clone();
        self.carry_on(turn);
        live.ended().await;
        let whole = live.whole.borrow_mut().take();
        whole.ok_or_else(|| Error::Internal("a turn hung, and was ended".into()))
    }

    /// Runs a turn that goes on, if there is one.
    fn go_on(&self, turn: Result<Option<Turn>>) {
        match turn {
            Ok(turn) => turn.into_iter().for_each(|it| self.carry_on(it)),
            Err(cause) => console_error!("a turn does not go on: {cause:?}"),
        }
    }

    /// Runs the turn. A promise that the object waits for keeps the object in memory after all clients have left.
    fn carry_on(&self, turn: Turn) {
        let (owner, env) = (self.owner.clone(), self.env.clone());
        self.state.wait_until(async move {
            let due = owner.run(turn).await;
            if !due.is_empty() {
                upkeep::refresh_noted(env, due).await;
            }
        });
    }
}

/// The stream of a turn.
fn stream(events: impl Stream<Item = Vec<u8>> + 'static) -> Result<Answer> {
    let failed = |cause: worker::Error| Error::Internal(format!("a stream does not begin: {cause}"));
    let mut builder = ResponseBuilder::new();
    for (name, value) in STREAM_HEADERS {
        builder = builder.with_header(name, value).map_err(failed)?;
    }
    builder.from_stream(events.map(Ok::<_, worker::Error>)).map(Answer::Stream).map_err(failed)
}

/// A response with a JSON text.
fn json(status: u16, text: String) -> worker::Result<Response> {
    let builder = ResponseBuilder::new().with_status(status).with_header("Content-Type", "application/json")?;
    Ok(builder.fixed(text.into_bytes()))
}
