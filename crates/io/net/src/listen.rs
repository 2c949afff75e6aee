//! Listening sockets.
//!
//! TCP: each worker binds the same address with SO_REUSEPORT, and the kernel distributes connections among them;
//! without SO_REUSEPORT, one listener is cloned for each worker. Unix: one listener is cloned for each worker, because
//! SO_REUSEPORT has no meaning there.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use mio::net::{TcpListener, UnixListener};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// Binds and listens on a TCP address.
///
/// Sets SO_REUSEADDR (so that a restart need not wait for old connections to time out), SO_REUSEPORT if asked for,
/// IPV6_V6ONLY (so that `0.0.0.0` and `::` can both be used) and TCP_NODELAY. Linux and the BSDs pass TCP_NODELAY on to
/// each accepted connection, which saves a system call for each.
///
/// # Errors
/// The system's error, with the address in front: the address is in use, is not of this machine, or is not allowed.
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
    listen().map_err(|error: io::Error| with_context(&error, format_args!("cannot listen on {address}")))
}

/// A second handle to the same listening socket, for another worker's poll.
///
/// # Errors
/// When the process is out of file descriptors.
pub fn clone_tcp(listener: &TcpListener) -> io::Result<TcpListener> {
    let socket = socket2::SockRef::from(listener).try_clone()?;
    Ok(TcpListener::from_std(socket.into()))
}

/// A second handle to the same listening socket, for another worker's poll. The file still belongs to the
/// [`UnixSocketFile`].
///
/// # Errors
/// When the process is out of file descriptors.
pub fn clone_unix(listener: &UnixListener) -> io::Result<UnixListener> {
    let socket = socket2::SockRef::from(listener).try_clone()?;
    Ok(UnixListener::from_std(socket.into()))
}

/// Binds and listens on a unix socket, and manages its file.
///
/// `mode` is the file's permission bits, such as `0o777`; nobody can connect before they are set. If a process has ended
/// and left its socket's file, the file is replaced. A file on which a process listens, or that is not a socket, is not
/// touched: that is an error. A lock on `<path>.lock` keeps two processes from replacing each other's file at the same
/// time. The returned [`UnixSocketFile`] holds the lock.
///
/// # Errors
/// - [`io::ErrorKind::AddrInUse`]: another process listens there, or holds the lock.
/// - [`io::ErrorKind::AlreadyExists`]: the file exists and is not a socket.
/// - The system's error (the path is too long, the directory does not exist, no permission), with the path in front.
pub fn unix(path: &Path, mode: u32, backlog: i32) -> io::Result<(UnixListener, UnixSocketFile)> {
    let lock = SocketLock::acquire(path)?;
    remove_stale(path)?;
    let listen = || {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.bind(&SockAddr::unix(path)?)?;
        let file = UnixSocketFile { path: path.to_owned(), identity: identity(path)?, _lock: lock };
        // Before listen(): until then every connect is refused, so nobody can use the mode that the umask gave the file.
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        socket.listen(backlog)?;
        Ok((UnixListener::from_std(socket.into()), file))
    };
    listen()
        .map_err(|error: io::Error| with_context(&error, format_args!("cannot listen on {}", path.display())))
}

/// The file of a unix socket and its lock. Dropping this removes both.
#[derive(Debug)]
pub struct UnixSocketFile {
    path: PathBuf,
    identity: FileIdentity,
    /// Dropped, and so released, after the socket's file is removed.
    _lock: SocketLock,
}

impl UnixSocketFile {
    /// The path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for UnixSocketFile {
    fn drop(&mut self) {
        // A program that ignores the lock may have put its own socket there: that one must stay. If the removal fails,
        // the next start replaces the file.
        if identity(&self.path).is_ok_and(|on_disk| on_disk == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Device and inode, which identify a file independent of its name.
type FileIdentity = (u64, u64);

fn identity(path: &Path) -> io::Result<FileIdentity> {
    fs::symlink_metadata(path).map(|file| (file.dev(), file.ino()))
}

/// The lock beside a socket's file. It is held from before the first check of that file until after its removal.
#[derive(Debug)]
struct SocketLock {
    path: PathBuf,
    /// Open only for its lock. The system releases the lock when the process ends, even after a crash.
    _file: File,
}

impl SocketLock {
    /// Creates and locks the file. Another process may remove the file between the open and the lock. Then the lock is on
    /// a file that no other process can open, so the loop checks that the file on disk is the locked one.
    fn acquire(socket: &Path) -> io::Result<Self> {
        let mut name = socket.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        loop {
            let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
            let file =
                open.map_err(|error| with_context(&error, format_args!("cannot open {}", path.display())))?;
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
                    return Err(with_context(&error, format_args!("cannot lock {}", path.display())));
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
        // The lock is still held here; `acquire` handles a process that opened the file before this.
        let _ = fs::remove_file(&self.path);
    }
}

/// Removes a socket file on which no process listens. The lock is held, so no other Trunkline can be between bind and
/// listen. If another program listens, the test connection succeeds.
fn remove_stale(path: &Path) -> io::Result<()> {
    let refuse =
        |kind, why: &str| Err(io::Error::new(kind, format!("cannot listen on {}: {why}", path.display())));
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(with_context(&error, format_args!("cannot look at {}", path.display()))),
        Ok(metadata) => metadata,
    };
    if !metadata.file_type().is_socket() {
        return refuse(io::ErrorKind::AlreadyExists, "the file exists and is not a socket; move it away");
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // Nonblocking: a listener with a full backlog is alive, too, but the connect to it would wait.
    probe.set_nonblocking(true)?;
    match probe.connect(&SockAddr::unix(path)?) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| {
                with_context(&error, format_args!("cannot remove the stale socket {}", path.display()))
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(()) => {
            refuse(io::ErrorKind::AddrInUse, "another process listens there; stop it or choose another path")
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            refuse(io::ErrorKind::AddrInUse, "another process listens there, with a full backlog")
        }
        Err(error) => {
            Err(with_context(&error, format_args!("cannot tell whether {} is in use", path.display())))
        }
    }
}

fn with_context(error: &io::Error, what: std::fmt::Arguments<'_>) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
