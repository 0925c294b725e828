//! The engine as WebAssembly. `adapters/js` has the package that users import, and the types of all values.
//!
//! The boundary has numbers and text only. A decision is a word of bits, and the rest of it is asked for by
//! the few callers that need it, so that a call without a finding creates no object.
//!
//! An object of WebAssembly lives until it is released or collected, and the collector does not know how much
//! memory it holds. Only guards live there, about 11 KB each.
//!
//! The crate is built twice. The small engine has all presets. The full one also reads policies and all
//! transcripts, and is several times as large, so it is loaded only when it is needed. Both are optimised for size.

#![cfg_attr(
    feature = "guard",
    expect(unreachable_pub, reason = "`wasm_bindgen` exports public items from private modules"),
    expect(
        clippy::needless_pass_by_value,
        reason = "`wasm_bindgen` passes optional text by value only"
    )
)]

#[cfg(feature = "guard")]
mod digest;
#[cfg(feature = "full")]
mod full;
#[cfg(feature = "guard")]
mod guard;
#[cfg(feature = "page")]
mod page;
