//! Properties of fingerprints that hold for all documents, tried on many.

mod canonical;
mod grammar;
mod meaning;
mod random;
mod respelled;
mod tree;
