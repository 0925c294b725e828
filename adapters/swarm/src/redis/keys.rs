//! The keyed hashes of calls and workers for the server, and the names of its keys.

use std::format;
use std::string::String;

use unstuck_core::{Digest, LoopId};

use crate::observation::{Key, Worker};

/// The context of the key derivation, so that the derived secret is of no other use.
const CONTEXT: &str = "unstuck swarm v1 2026-11-22 digests on a server";

/// The secret of a swarm, and the keys under which a server counts for it.
///
/// A reader of the server sees hashes that nobody can compute without the secret. So the arguments of a call
/// cannot be guessed by trial. Swarms with the same name and different secrets are separate.
pub(super) struct Keys {
    secret: [u8; 32],
    tag: String,
    /// The key of the epoch. A new epoch ends all earlier counts.
    pub(super) epoch: String,
    /// The key of the hottest calls.
    pub(super) hot: String,
}

impl Keys {
    pub(super) fn new(swarm: &str, secret: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        hasher.update(swarm.as_bytes()).update(&[0]).update(secret);
        let secret = *hasher.finalize().as_bytes();
        // One hash tag for all of them: a cluster keeps a swarm on one node.
        let tag = format!("{{unstuck:{swarm}}}");
        let own = blake3::keyed_hash(&secret, b"swarm").to_hex();
        let own = &own[..16];
        let (epoch, hot) = (format!("{tag}:epoch:{own}"), format!("{tag}:hot:{own}"));
        Self { secret, tag, epoch, hot }
    }

    /// Returns the id of the loop of calls with this key.
    pub(super) fn loop_id(&self, key: Key) -> LoopId {
        LoopId::from_bits(u64::from_be_bytes(self.hashed(b'c', key.digest())))
    }

    /// Returns the hash of a worker. It is practically unique in a swarm of thousands. Two workers with the same
    /// hash count as one.
    pub(super) fn worker(&self, worker: Worker) -> [u8; 4] {
        self.hashed(b'w', worker.digest())
    }

    /// Returns the key under which the calls of a loop are counted.
    pub(super) fn calls(&self, id: LoopId) -> String {
        format!("{}:{id}", self.tag)
    }

    fn hashed<const N: usize>(&self, kind: u8, digest: Digest) -> [u8; N] {
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        hasher.update(&[kind]).update(&digest.bits().to_le_bytes());
        let mut hash = [0; N];
        hasher.finalize_xof().fill(&mut hash);
        hash
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn hashes_depend_on_the_secret_and_on_the_swarm() {
        let key = Key::new(Digest::of(b"make all"));
        let keys = [("a", "s"), ("a", "t"), ("b", "s")].map(|(a, b)| Keys::new(a, b.as_bytes()));
        let mut ids: Vec<_> = keys.iter().map(|keys| keys.loop_id(key).bits()).collect();
        ids.push(key.digest().bits());
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 4);
        assert_eq!(Keys::new("a", b"s").loop_id(key), keys[0].loop_id(key));
    }

    #[test]
    fn a_worker_and_a_call_have_different_hashes() {
        let keys = Keys::new("a", b"s");
        let worker = Worker::named("w");
        let call = keys.loop_id(Key::new(worker.digest())).bits().to_be_bytes();
        assert_ne!(call[..4], keys.worker(worker));
    }

    #[test]
    fn all_keys_of_a_swarm_have_its_tag() {
        let keys = Keys::new("a", b"s");
        for key in [&keys.epoch, &keys.hot, &keys.calls(LoopId::from_bits(1))] {
            assert!(key.starts_with("{unstuck:a}:"), "{key}");
        }
        assert_eq!(keys.calls(LoopId::from_bits(1)), "{unstuck:a}:0000000000000001");
    }
}
