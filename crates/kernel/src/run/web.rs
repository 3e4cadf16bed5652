//! A web page over a run's path: nginx at the sender's end, curl at the receiver's. Both are this machine's own; they
//! are started inside the run's namespaces, as the run's children, and end with it, however it ends: the kernel kills them
//! when the thread that has started them is gone. The server's sockets take the namespace's congestion control, as any
//! server's would.

use crate::netns::Netns;
use crate::session::{FOLDER, Session};
use crate::{Error, cgroup};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{getpid, getppid};
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use truckee_channel::random::{exponential, stream};
use truckee_tcp::Nanos;

/// The programs, and the packages that have them.
const SERVER: (&str, &str) = ("nginx", "apt-get install nginx-light");
const CLIENT: (&str, &str) = ("curl", "apt-get install curl");
/// No object is smaller, bytes.
const LEAST: Nanos = 100;
/// So long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// A page and the server that has it.
pub struct Page {
    folder: TempDir,
    server: Child,
    client: Option<Child>,
    here: SocketAddr,
    objects: u32,
    connections: u32,
}

/// Whether both programs are there.
pub fn check() -> Result<(), Error> {
    for (program, mend) in [SERVER, CLIENT] {
        let there = Command::new(program).arg("-V").stdin(Stdio::null()).output();
        if there.is_err() {
            let what = format!("a web page needs {program}, which is not on the PATH");
            return Err(Error::Missing { what, mend: mend.to_owned() });
        }
    }
    Ok(())
}

impl Page {
    /// Writes the page's objects and has a server listen at `here` inside `namespace`.
    pub fn serve(
        session: &Session,
        namespace: &Netns,
        here: SocketAddr,
        flow: &str,
        seed: u64,
        (objects, mean, connections): (u32, u64, u32),
    ) -> Result<Self, Error> {
        let doing = || format!("make the web page of flow \"{flow}\"");
        // By this name `crate::clean` finds it, should the run be killed.
        let folder = tempfile::Builder::new().prefix(&format!("{}.page-", session.id())).tempdir_in(FOLDER);
        let folder = folder.map_err(|e| Error::system(doing(), e))?;
        let mut dice = stream(seed, &format!("{flow}/objects"));
        for k in 0..objects {
            let size = exponential(&mut dice, mean).max(LEAST);
            let object = File::create(folder.path().join(k.to_string()));
            object.and_then(|file| file.set_len(size)).map_err(|e| Error::system(doing(), e))?;
        }
        let configuration = folder.path().join("nginx.conf");
        fs::write(&configuration, configure(folder.path(), here)).map_err(|e| Error::system(doing(), e))?;
        let log = File::create(folder.path().join("log")).map_err(|e| Error::system(doing(), e))?;
        let mut command = Command::new(SERVER.0);
        command.arg("-c").arg(&configuration).arg("-p").arg(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let server = spawn(session, namespace, command, SERVER.0)?;
        let mut page = Self { folder, server, client: None, here, objects, connections };
        page.await_server(namespace)?;
        Ok(page)
    }

    fn await_server(&mut self, namespace: &Netns) -> Result<(), Error> {
        let started = Instant::now();
        while namespace.enter(|| TcpStream::connect(self.here))?.is_err() {
            let ended = self.server.try_wait().ok().flatten();
            if ended.is_some() || started.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                return Err(Error::Broken(format!(
                    "{} does not listen at {}: {}",
                    SERVER.0,
                    self.here,
                    log.trim()
                )));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Has a client inside `namespace` ask for all of it.
    pub fn ask(&mut self, session: &Session, namespace: &Netns) -> Result<(), Error> {
        let list = self.folder.path().join("urls");
        let write = || -> io::Result<()> {
            let mut file = File::create(&list)?;
            for k in 0..self.objects {
                writeln!(file, "url = \"http://{}/{k}\"\noutput = \"/dev/null\"", self.here)?;
            }
            Ok(())
        };
        write().map_err(|e| Error::system("write the list of a web page's objects", e))?;
        let mut command = Command::new(CLIENT.0);
        command.args(["--disable", "--silent", "--show-error", "--fail", "--noproxy", "*"]);
        command
            .args(["--parallel", "--parallel-immediate", "--parallel-max"])
            .arg(self.connections.to_string());
        command.arg("--config").arg(&list);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        self.client = Some(spawn(session, namespace, command, CLIENT.0)?);
        Ok(())
    }

    /// Whether the client has all of it by now; an error if it gave up.
    pub fn is_done(&mut self) -> Result<bool, String> {
        let Some(client) = &mut self.client else { return Ok(false) };
        match client.try_wait() {
            Ok(None) => Ok(false),
            Ok(Some(status)) if status.success() => Ok(true),
            Ok(Some(status)) => {
                let said =
                    client.stderr.take().map(io::read_to_string).and_then(Result::ok).unwrap_or_default();
                Err(format!("{} ended with {status}: {}", CLIENT.0, said.trim()))
            }
            Err(error) => Err(format!("{} cannot be waited for: {error}", CLIENT.0)),
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        for child in self.client.iter_mut().chain([&mut self.server]) {
            // One that has ended already cannot be killed, and need not.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts a program inside a namespace and in the run's control group, by which it is found should the run be killed.
fn spawn(session: &Session, namespace: &Netns, mut command: Command, name: &str) -> Result<Child, Error> {
    namespace.takes(&mut command)?;
    dies_with_us(&mut command);
    let child = command.spawn().map_err(|e| Error::system(format!("start {name}"), e))?;
    cgroup::add(session, child.id())?;
    Ok(child)
}

/// Has the kernel kill a program when the thread that starts it is gone: one that was killed cannot do so.
fn dies_with_us(command: &mut Command) {
    let us = getpid();
    let tie = move || {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // Who was killed before that was said has left this to somebody else.
        if getppid() == us { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    };
    // SAFETY: between fork and exec it makes system calls only, takes no memory and no lock.
    unsafe { command.pre_exec(tie) };
}

/// One process that stays in the foreground and writes nowhere but into its folder.
fn configure(folder: &Path, here: SocketAddr) -> String {
    let folder = folder.display();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("    {kind}_temp_path {folder}/{kind};\n"))
        .collect();
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log stderr;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n    access_log off;\n    keepalive_requests 100000;\n{temporary}\
         \x20   server {{ listen {here} backlog=1024; root {folder}; }}\n}}\n"
    )
}
