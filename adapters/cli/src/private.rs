//! Folders and files that only this user can read, on Unix.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::Path;

/// Creates the folder `path` and its parents.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Returns options to read and write a file, which is created if there is none. A link is not followed, and opening a
/// pipe does not wait.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    restrict(&mut options);
    options
}

/// Sets options, on Unix, so that only this user can read a new file, no link is followed, and opening a pipe does not
/// wait.
pub(crate) fn restrict(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;

        let flags = OFlags::NONBLOCK.union(OFlags::NOFOLLOW).bits().cast_signed();
        options.mode(0o600).custom_flags(flags);
    }
    #[cfg(not(unix))]
    let _ = options;
}
