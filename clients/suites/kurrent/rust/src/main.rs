// Runs the tests that Kurrent's own Rust client carries against a server that is there: theirs start a container.
// Usage: kurrent-suite HOST:PORT streams|persistent_subscriptions

// The crate's tests/common.rs and tests/api, as they are: clients/suites/kurrent/run copies them beside this file.
mod common;
mod api {
    pub mod persistent_subscriptions;
    pub mod streams;
}

#[tokio::main]
async fn main() -> eyre::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .init();
    let settings = format!("kurrentdb://{}?tls=false", arguments[1]).parse::<kurrentdb::ClientSettings>()?;
    let client = kurrentdb::Client::new(settings)?;
    match arguments[2].as_str() {
        "streams" => api::streams::tests(client).await?,
        "persistent_subscriptions" => api::persistent_subscriptions::tests(client).await?,
        other => eyre::bail!("there are no tests of {other}"),
    }
    println!("rust, {}: done", arguments[2]);
    Ok(())
}
