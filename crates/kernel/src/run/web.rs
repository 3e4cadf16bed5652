//! A web page over a run's path: nginx at the sender's end, curl at the receiver's. Both are this machine's own; they
//! are started inside the run's namespaces, as the run's children, and end with it, however it ends: the kernel kills them
//! when the thread that has started them is gone. The server's sockets take the namespace's congestion control, as any
//! server's would.

use crate::Error;
use crate::doctor::{self, Capability};
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use truckee_channel::random::{exponential, stream};
use truckee_host::cgroup;
use truckee_host::identity::FOLDER;
use truckee_host::netns::Netns;
use truckee_host::program::dies_with_us;
use truckee_host::rights::in_folders;
use truckee_host::session::Session;
use truckee_tcp::Span;

/// The programs, and the packages that have them.
const SERVER: (&str, &str) = ("nginx", "apt-get install nginx-light");
const CLIENT: (&str, &str) = ("curl", "apt-get install curl");
/// No object is smaller, bytes.
const LEAST: u64 = 100;
/// So long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// A page and the server that has it.
pub struct Page {
    server: Running,
    client: Option<Running>,
    // After those who write there.
    folder: TempDir,
    here: SocketAddr,
    objects: u32,
    connections: u32,
}

/// Whether both programs are there, and there can be a control group for them.
pub fn check() -> Result<(), Error> {
    doctor::check(&[Capability::Cgroup])?;
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
        // By this name `truckee_host::clean` finds it, should the run be killed.
        let folder = in_folders(|| {
            tempfile::Builder::new().prefix(&format!("{}.page-", session.id())).tempdir_in(FOLDER)
        });
        let folder = folder.map_err(|e| Error::system(doing(), e))?;
        let mut dice = stream(seed, &format!("{flow}/objects"));
        for k in 0..objects {
            // Bytes, drawn as a time is.
            let size = exponential(&mut dice, Span::ns(mean)).nanos().max(LEAST);
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
        let mut page = Self { server, client: None, folder, here, objects, connections };
        page.await_server(namespace)?;
        Ok(page)
    }

    fn await_server(&mut self, namespace: &Netns) -> Result<(), Error> {
        let started = Instant::now();
        while namespace.enter(|| TcpStream::connect(self.here))?.is_err() {
            let ended = self.server.0.try_wait().ok().flatten();
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
        let Some(Running(client)) = &mut self.client else { return Ok(false) };
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

/// A program that runs. Dropped, it is killed.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended already cannot be killed, and need not.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program inside a namespace and in the run's control group, by which it is found should the run be killed.
fn spawn(session: &Session, namespace: &Netns, mut command: Command, name: &str) -> Result<Running, Error> {
    let group = cgroup::of_a_run(session)?;
    namespace.takes(&mut command)?;
    dies_with_us(&mut command);
    start(command, group, name)
}

/// Starts a program that joins the control group with this list of processes before it is one: where it cannot, nothing has
/// been started.
fn start(mut command: Command, group: File, name: &str) -> Result<Running, Error> {
    // 0: the process that writes it.
    let join = move || (&group).write_all(b"0");
    // SAFETY: between fork and exec it makes one system call, takes no memory and no lock.
    unsafe { command.pre_exec(join) };
    let child =
        command.spawn().map_err(|e| Error::system(format!("start {name} in its control group"), e))?;
    Ok(Running(child))
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

#[cfg(test)]
mod tests {
    use super::*;
    use truckee_testing::until;

    fn sleeper() -> Command {
        let mut command = Command::new("sleep");
        command.arg("1000");
        command
    }

    /// A list of processes of no control group: it takes what is written.
    fn list() -> File {
        tempfile::tempfile().unwrap()
    }

    #[test]
    fn what_cannot_join_its_control_group_is_not_started() {
        // Written to, a file that was opened for reading fails as a control group does that refuses.
        let refusing = File::open("/dev/null").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("touch");
        command.arg(folder.path().join("started"));
        let error = start(command, refusing, "touch").err().unwrap().to_string();
        assert!(error.contains("start touch in its control group"), "{error}");
        assert!(!folder.path().join("started").exists());
    }

    #[test]
    fn what_is_dropped_is_killed() {
        let running = start(sleeper(), list(), "sleep").unwrap();
        let process = format!("/proc/{}", running.0.id());
        assert!(Path::new(&process).exists());
        drop(running);
        until("the end of a killed program", || !Path::new(&process).exists());
    }
}
