use evershard_happenstance::Evershard;
happenstance_testkit::event_store_conformance!(Evershard::new());
