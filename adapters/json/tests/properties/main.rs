//! Properties of fingerprints that hold for all documents, tried on many.

mod canonical;
mod grammar;
mod meaning;
mod respelled;
mod tree;
