//! Properties of fingerprints that hold for all documents, tried on many, and published documents.

mod canonical;
mod grammar;
mod meaning;
mod random;
mod respelled;
mod suite;
mod tree;
