use evershard_happenstance::Evershard;
happenstance_testkit::event_store_concurrency_conformance!(Evershard::new());
