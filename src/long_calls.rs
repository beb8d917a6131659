//! The Durable Object that owns a call of a tool with a timeout above 30 seconds. The platform ends a Worker's request 30
//! seconds after its client has left, but lets an object finish its work. The object runs the call and writes the
//! record, whether the client and the Worker still wait or not.

use crate::app::App;
use crate::execution;
use std::panic::AssertUnwindSafe;
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen_futures::{JsFuture, future_to_promise};
use worker::{DurableObject, Env, Request, Response, State, durable_object, wasm_bindgen};

const FAILED: u16 = 500;

#[durable_object(fetch)]
pub struct LongCall {
    state: State,
    env: Env,
}

impl DurableObject for LongCall {
    fn new(state: State, env: Env) -> Self {
        Self { state, env }
    }

    async fn fetch(&self, mut request: Request) -> worker::Result<Response> {
        let (call, env) = (request.text().await?, self.env.clone());
        let work = future_to_promise(AssertUnwindSafe(async move {
            let app = App::new(env).map_err(|error| JsValue::from(format!("{error:?}")))?;
            let ended = execution::run_owned(app, &call).await;
            ended.map(JsValue::from).map_err(|error| JsValue::from(format!("{error:?}")))
        }));
        // A promise that the object waits for keeps the object in memory after its caller has left.
        let carried = JsFuture::from(work.clone());
        self.state.wait_until(async move {
            let _ = carried.await;
        });
        match JsFuture::from(work).await {
            Ok(result) => Response::ok(result.as_string().unwrap_or_default()),
            Err(cause) => Response::error(cause.as_string().unwrap_or_default(), FAILED),
        }
    }
}
