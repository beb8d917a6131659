//! The only access to R2: a bucket that takes files and gives none back.

use crate::error::{Error, Result};
use wasm_bindgen::prelude::wasm_bindgen;
use worker::js_sys::{Promise, Uint8Array};
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen(module = "/src/bucket.js")]
extern "C" {
    fn put(bucket: &JsValue, key: &str, contents: Uint8Array) -> Promise;
}

pub struct Bucket(JsValue);

impl Bucket {
    pub fn new(binding: JsValue) -> Self {
        Self(binding)
    }

    /// Puts a file into the bucket, compressed by gzip, and returns its compressed size. A file that has the key already is
    /// replaced.
    pub async fn put_gzip(&self, key: &str, contents: Vec<u8>) -> Result<u32> {
        let copy = Uint8Array::from(contents.as_slice());
        // The copy of JavaScript is enough.
        drop(contents);
        let failed = |cause: String| Error::Internal(format!("the bucket did not take {key}: {cause}"));
        let size = JsFuture::from(put(&self.0, key, copy)).await.map_err(|cause| failed(format!("{cause:?}")))?;
        let size = size.as_f64().ok_or_else(|| failed("it told no size".into()))?;
        Ok(size as u32)
    }
}
