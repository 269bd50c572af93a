//! What tests of UmaDB's clients start as a server: the program that EVERSHARD_SERVER names.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;
use tokio::sync::oneshot;
pub use umadb_core::mvcc::StorageOptions;

type Failure = Box<dyn std::error::Error>;

#[derive(Clone, Debug)]
pub struct ServerTlsOptions {
    pub cert_pem: Vec<u8>,
    pub key_pem: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct ServerOptions {
    pub listen_addr: String,
    pub tls: Option<ServerTlsOptions>,
    pub api_key: Option<String>,
    pub storage: StorageOptions,
}

pub async fn start_server<P: AsRef<Path>>(
    db_path: P,
    addr: &str,
    shutdown: oneshot::Receiver<()>,
) -> Result<(), Failure> {
    serve(db_path.as_ref(), addr, None, None, shutdown).await
}

pub async fn start_server_with_options(
    options: ServerOptions,
    shutdown: oneshot::Receiver<()>,
) -> Result<(), Failure> {
    serve(
        &options.storage.db_path,
        &options.listen_addr,
        options.tls,
        options.api_key,
        shutdown,
    )
    .await
}

/// A folder beside what the test gives, which may be a file's name.
fn folder_of(db_path: &Path) -> PathBuf {
    let base = if db_path.is_dir() {
        db_path
    } else {
        db_path.parent().unwrap_or(Path::new("."))
    };
    base.join("evershard")
}

async fn serve(
    db_path: &Path,
    addr: &str,
    tls: Option<ServerTlsOptions>,
    api_key: Option<String>,
    shutdown: oneshot::Receiver<()>,
) -> Result<(), Failure> {
    let folder = folder_of(db_path);
    std::fs::create_dir_all(&folder)?;
    let mut server = Command::new(std::env::var("EVERSHARD_SERVER")?);
    server
        .arg("serve")
        .arg("--data")
        .arg(folder.join("data"))
        .args(["--listen", "127.0.0.1:0", "--http-listen", "none", "--shards", "4"])
        .args(["--log-level", "error", "--umadb-listen", addr]);
    if let Some(tls) = tls {
        std::fs::write(folder.join("cert.pem"), tls.cert_pem)?;
        std::fs::write(folder.join("key.pem"), tls.key_pem)?;
        server.arg("--tls-cert").arg(folder.join("cert.pem"));
        server.arg("--tls-key").arg(folder.join("key.pem"));
    }
    if let Some(key) = api_key {
        std::fs::write(folder.join("tokens"), format!("test read,append {key}\n"))?;
        server.arg("--tokens").arg(folder.join("tokens"));
    }
    let mut child = server
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    tokio::select! {
        ended = child.wait() => Err(format!("the server has ended: {}", ended?).into()),
        _ = shutdown => { child.kill().await?; Ok(()) }
    }
}
