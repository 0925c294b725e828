//! Fake servers: for any reply, workers go on and get no false loop.

use std::time::Duration;

use unstuck_swarm::redis::{RedisError, Settings, Watch};
use unstuck_swarm::{SwarmStore as _, Verdict};

use crate::counts::observation;
use crate::faults::{hasty, pass, while_calling};
use crate::liar::{Liar, Lie};
use crate::server::SECRET;

const LIES: [(&str, Lie); 22] = [
    ("takes all and answers nothing", Lie::Nothing),
    ("answers a byte now and then", Lie::Drips),
    ("hangs up", Lie::HangsUp(b"")),
    ("hangs up in the middle", Lie::HangsUp(b"*2\r\n:1\r\n:")),
    ("speaks another language", Lie::Says(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
    ("says OK to all", Lie::Says(b"+OK\r\n")),
    ("says nothing is there", Lie::Says(b"$-1\r\n")),
    ("counts nothing", Lie::Says(b"*0\r\n")),
    ("counts no worker", Lie::Says(b"*2\r\n:9\r\n:0\r\n")),
    ("counts less than none", Lie::Says(b"*2\r\n:-9\r\n:-1\r\n")),
    ("counts more workers than calls", Lie::Says(b"*2\r\n:9\r\n:10\r\n")),
    ("counts more than there can be", Lie::Says(b"*2\r\n:9223372036854775807\r\n:9\r\n")),
    ("counts more than a number", Lie::Says(b"*2\r\n:99999999999999999999\r\n:9\r\n")),
    ("counts in words", Lie::Says(b"*2\r\n$4\r\nnine\r\n$3\r\ntwo\r\n")),
    ("counts too much", Lie::Says(b"*5\r\n:9\r\n:9\r\n:9\r\n:9\r\n:9\r\n")),
    ("promises a long answer", Lie::Says(b"$9223372036854775807\r\nx")),
    ("promises many answers", Lie::Says(b"*9223372036854775807\r\n:1\r\n")),
    ("promises a map without end", Lie::Says(b"%9223372036854775807\r\n+a\r\n")),
    ("promises less than nothing", Lie::Says(b"|-1\r\n*-2\r\n$-2\r\n")),
    ("nests without end", Lie::Says(b"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n")),
    ("redirects to a missing server", Lie::Says(b"-MOVED 1 127.0.0.1:1\r\n")),
    ("has no functions, and takes none", Lie::Says(b"-ERR Function not found\r\n")),
];

/// Replies without an end: a server begins with these bytes and repeats the others.
const FLOODS: [(&str, &[u8], &[u8]); 5] = [
    ("a line", b"+", b"aaaaaaaaaaaaaaaa"),
    ("a text", b"$400000000\r\n", b"aaaaaaaaaaaaaaaa"),
    ("numbers", b"*1000000000\r\n", b":1\r\n:1\r\n:1\r\n:1\r\n"),
    ("an error", b"-ERR ", b"aaaaaaaaaaaaaaaa"),
    ("news", b"", b">1\r\n+a\r\n>1\r\n+a\r\n"),
];

/// The most bytes that a client takes, and what the sockets hold.
const TAKEN_MAX: usize = 16 << 20;

#[test]
fn a_reply_without_an_end_is_cut_off() {
    for (what, begin, rest) in FLOODS {
        let liar = Liar::start(Lie::Floods(begin, rest));
        let settings = Settings::parse(&liar.url(), SECRET).expect("it is an address");
        let error = Watch::open(&settings).and_then(|mut watch| watch.hottest(9)).err();
        assert!(
            matches!(error, Some(RedisError::Nonsense { .. } | RedisError::Unreachable { .. })),
            "{what}: {error:?}"
        );
        let store = hasty(&liar.url());
        while_calling(&store, what, || pass(Duration::from_millis(300)));
        assert_eq!(store.look(observation(1, 1).call), Verdict::PROCEED, "{what}");
        drop(store);
        let most = liar.most();
        assert!((1..TAKEN_MAX).contains(&most), "{what}: {most} bytes");
    }
}

#[test]
fn an_invalid_reply_neither_fails_nor_accuses_a_worker() {
    std::thread::scope(|scope| {
        for (what, lie) in LIES {
            scope.spawn(move || {
                let liar = Liar::start(lie);
                let store = hasty(&liar.url());
                while_calling(&store, what, || pass(Duration::from_millis(300)));
                let verdicts =
                    [store.record(&observation(1, 1)), store.look(observation(1, 1).call)];
                assert_eq!(verdicts, [Verdict::PROCEED; 2], "{what}");
                let health = store.health();
                assert_eq!(health.answered, 0, "{what}: {health:?}");
            });
        }
    });
}
