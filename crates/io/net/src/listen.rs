//! Listening sockets.
//!
//! TCP: each worker binds the same address with SO_REUSEPORT and the kernel deals connections out among
//! them, or one listener is cloned. Unix: one listener, cloned for each worker (reuse of a port is not a
//! thing there).

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use mio::net::{TcpListener, UnixListener};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// Binds and listens on a TCP address.
///
/// Sets SO_REUSEADDR (a restart need not wait for old connections to fade), SO_REUSEPORT if asked for,
/// IPV6_V6ONLY (so that `0.0.0.0` and `::` can both be listened on) and TCP_NODELAY, which Linux and the
/// BSDs hand down to each accepted connection: a system call less for each.
///
/// # Errors
/// The system's, with the address in front: in use, not ours, not allowed.
pub fn tcp(address: SocketAddr, backlog: i32, reuse_port: bool) -> io::Result<TcpListener> {
    let listen = || {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_reuse_address(true)?;
        if reuse_port {
            socket.set_reuse_port(true)?;
        }
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.set_tcp_nodelay(true)?;
        socket.bind(&address.into())?;
        socket.listen(backlog)?;
        Ok(TcpListener::from_std(socket.into()))
    };
    listen().map_err(|error: io::Error| explain(&error, format_args!("cannot listen on {address}")))
}

/// A second handle to the same listening socket, for another worker's poll.
///
/// # Errors
/// When the process is out of file descriptors.
pub fn clone_tcp(listener: &TcpListener) -> io::Result<TcpListener> {
    let socket = socket2::SockRef::from(listener).try_clone()?;
    Ok(TcpListener::from_std(socket.into()))
}

/// A second handle to the same listening socket, for another worker's poll. The file stays the
/// [`UnixSocketFile`]'s.
///
/// # Errors
/// When the process is out of file descriptors.
pub fn clone_unix(listener: &UnixListener) -> io::Result<UnixListener> {
    let socket = socket2::SockRef::from(listener).try_clone()?;
    Ok(UnixListener::from_std(socket.into()))
}

/// Binds and listens on a unix socket file and takes care of the file.
///
/// `mode` is the file's permission bits, such as `0o777`; nobody can connect before they are set. A file
/// that a dead process left is replaced; a file that somebody listens on, or that is no socket, is left
/// alone and refused. A lock on `<path>.lock` keeps two processes from replacing each other's file at the
/// same moment, and is held as long as the guard lives.
///
/// # Errors
/// - [`io::ErrorKind::AddrInUse`]: somebody listens there, or holds the lock.
/// - [`io::ErrorKind::AlreadyExists`]: the file is there and is no socket.
/// - What the system says (a path too long, no such directory, no permission), with the path in front.
pub fn unix(path: &Path, mode: u32, backlog: i32) -> io::Result<(UnixListener, UnixSocketFile)> {
    let lock = SocketLock::take(path)?;
    remove_stale(path)?;
    let listen = || {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.bind(&SockAddr::unix(path)?)?;
        let file = UnixSocketFile { path: path.to_owned(), identity: identity(path)?, _lock: lock };
        // Before listen(): until then every connect is refused, so the umask's mode lets nobody in.
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        socket.listen(backlog)?;
        Ok((UnixListener::from_std(socket.into()), file))
    };
    listen().map_err(|error: io::Error| explain(&error, format_args!("cannot listen on {}", path.display())))
}

/// A unix socket's file and its lock; both are removed when this is dropped.
#[derive(Debug)]
pub struct UnixSocketFile {
    path: PathBuf,
    identity: FileIdentity,
    /// Dropped, and so let go, after the socket's file is removed.
    _lock: SocketLock,
}

impl UnixSocketFile {
    /// Where clients connect to.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for UnixSocketFile {
    fn drop(&mut self) {
        // A program without our lock may have put its own socket there since. About a failure nothing can
        // be done, and the next start replaces what is left.
        if identity(&self.path).is_ok_and(|on_disk| on_disk == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Device and inode: which file it is, whatever it is called.
type FileIdentity = (u64, u64);

fn identity(path: &Path) -> io::Result<FileIdentity> {
    fs::symlink_metadata(path).map(|file| (file.dev(), file.ino()))
}

/// The lock beside a socket's file, held from before the look at that file until after its removal.
#[derive(Debug)]
struct SocketLock {
    path: PathBuf,
    /// Held for its lock only; the system lets go of that when the process ends, however it ends.
    _file: File,
}

impl SocketLock {
    /// A process that opened the file just before its owner removed it would hold a lock that nobody else
    /// sees, so the file on disk must be the one that was locked.
    fn take(socket: &Path) -> io::Result<Self> {
        let mut name = socket.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        loop {
            let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
            let file =
                open.map_err(|error| explain(&error, format_args!("cannot open {}", path.display())))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let message = format!(
                        "cannot listen on {}: another process holds {}; stop it or choose another socket path",
                        socket.display(),
                        path.display()
                    );
                    return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
                }
                Err(TryLockError::Error(error)) => {
                    return Err(explain(&error, format_args!("cannot lock {}", path.display())));
                }
            }
            let locked = file.metadata()?;
            if identity(&path).is_ok_and(|on_disk| on_disk == (locked.dev(), locked.ino())) {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for SocketLock {
    fn drop(&mut self) {
        // While it is still held: see `take` for the process that waits for it.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes a socket file nobody listens on. The lock is held, so no other of us can be between bind and
/// listen; a listener of another program answers the test connection.
fn remove_stale(path: &Path) -> io::Result<()> {
    let refuse =
        |kind, why: &str| Err(io::Error::new(kind, format!("cannot listen on {}: {why}", path.display())));
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(explain(&error, format_args!("cannot look at {}", path.display()))),
        Ok(metadata) => metadata,
    };
    if !metadata.file_type().is_socket() {
        return refuse(io::ErrorKind::AlreadyExists, "the file exists and is not a socket; move it away");
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // Nonblocking: a listener whose backlog is full is alive too, and must not be waited for.
    probe.set_nonblocking(true)?;
    match probe.connect(&SockAddr::unix(path)?) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| {
                explain(&error, format_args!("cannot remove the stale socket {}", path.display()))
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(()) => {
            refuse(io::ErrorKind::AddrInUse, "another process listens there; stop it or choose another path")
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            refuse(io::ErrorKind::AddrInUse, "another process listens there, with a full backlog")
        }
        Err(error) => Err(explain(&error, format_args!("cannot tell whether {} is in use", path.display()))),
    }
}

fn explain(error: &io::Error, what: std::fmt::Arguments<'_>) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
