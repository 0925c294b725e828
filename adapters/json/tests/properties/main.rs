//! Properties of fingerprints that hold for all documents, tried on many.

mod grammar;
mod meaning;
mod random;
mod tree;
