//! A connection whose client has to read its answers in time.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A stream with a limit on the time in which all that was written has to be taken.
///
/// The time begins when a write has to wait, and ends with a flush. So a client that reads an answer byte by
/// byte has no more time than one that does not read. Libraries for time-outs limit each write, and `hyper` none.
pub(super) struct Timed<S> {
    stream: S,
    time: Duration,
    /// Set while the client does not take what is written.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Timed<S> {
    pub(super) const fn new(stream: S, time: Duration) -> Self {
        Self { stream, time, deadline: None }
    }

    /// Returns the result of a write. One that waits for too long is an error.
    fn in_time<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            return written;
        }
        let time = self.time;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(time)));
        deadline.as_mut().poll(context).map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if flushed.is_ready() {
            self.deadline = None;
        }
        self.in_time(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.in_time(context, closed)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::poll_fn;

    use tokio::runtime::Builder;
    use tokio::task::yield_now;

    use super::*;

    /// The time of a client that reads. No test waits as long.
    const LONG: Duration = Duration::from_secs(600);

    /// A client that takes as many bytes as it has room for. It wakes nobody.
    struct Client<'a>(&'a Cell<usize>);

    impl AsyncWrite for Client<'_> {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            let room = self.0.get();
            let count = bytes.len().min(room);
            self.0.set(room - count);
            if count > 0 { Poll::Ready(Ok(count)) } else { Poll::Pending }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Writes at most ten bytes.
    async fn write(to: &mut Timed<Client<'_>>) -> Result<usize, ErrorKind> {
        let written = poll_fn(|context| Pin::new(&mut *to).poll_write(context, &[0; 10])).await;
        written.map_err(|error| error.kind())
    }

    async fn flush(to: &mut Timed<Client<'_>>) {
        poll_fn(|context| Pin::new(&mut *to).poll_flush(context)).await.expect("a flush");
    }

    fn run(test: impl Future<Output = ()>) {
        Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(test);
    }

    #[test]
    fn a_client_that_does_not_read_has_no_more_than_its_time() {
        let room = Cell::new(12);
        run(async {
            let mut timed = Timed::new(Client(&room), Duration::ZERO);
            assert_eq!(write(&mut timed).await, Ok(10));
            flush(&mut timed).await;
            assert_eq!(write(&mut timed).await, Ok(2));
            assert_eq!(write(&mut timed).await, Err(ErrorKind::TimedOut));
            // A part of the answer does not give it more time.
            timed.time = LONG;
            room.set(5);
            assert_eq!(write(&mut timed).await, Ok(5));
            assert_eq!(write(&mut timed).await, Err(ErrorKind::TimedOut));
        });
    }

    #[test]
    fn a_client_that_reads_gets_all_its_answers() {
        let room = Cell::new(0);
        run(async {
            let mut timed = Timed::new(Client(&room), LONG);
            for _ in 0..3 {
                let read = async {
                    yield_now().await;
                    room.set(10);
                    yield_now().await;
                };
                let (written, ()) = tokio::join!(write(&mut timed), read);
                assert_eq!(written, Ok(10));
                assert!(timed.deadline.is_some());
                flush(&mut timed).await;
                assert!(timed.deadline.is_none());
            }
        });
    }
}
