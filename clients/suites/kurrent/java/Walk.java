// A walk through Kurrent's own Java client: append, read, subscribe, delete; persistent subscriptions.
// Usage: java -cp ... Walk.java HOST:PORT

import io.kurrent.dbclient.*;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

class Walk {
    static <T> T get(CompletableFuture<T> future) throws Exception {
        try {
            return future.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Exception cause ? cause : failed;
        }
    }

    interface Asked {
        void run() throws Exception;
    }

    static void refused(Class<? extends Exception> as, Asked asked) throws Exception {
        try {
            asked.run();
        } catch (Exception failed) {
            if (as.isInstance(failed)) return;
            throw failed;
        }
        throw new AssertionError("expected " + as.getSimpleName());
    }

    static void same(Object expected, Object found) {
        if (!Objects.equals(expected, found)) throw new AssertionError("expected " + expected + ", found " + found);
    }

    static EventData json(String type, int number) {
        return EventData.builderAsJson(type, ("{\"number\":" + number + "}").getBytes(StandardCharsets.UTF_8))
                .metadataAsBytes("{\"by\":\"walk\"}".getBytes(StandardCharsets.UTF_8))
                .build();
    }

    static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    static ResolvedEvent next(BlockingQueue<ResolvedEvent> from) throws Exception {
        ResolvedEvent event = from.poll(20, TimeUnit.SECONDS);
        if (event == null) throw new AssertionError("no event came");
        return event;
    }

    static void streams(KurrentDBClient db) throws Exception {
        String stream = "order-" + UUID.randomUUID();
        List<EventData> events = List.of(json("Placed", 1), json("Placed", 2), json("Placed", 3));
        AppendToStreamOptions isNew = AppendToStreamOptions.get().streamState(StreamState.noStream());
        for (int tries = 0; tries < 2; ++tries)  // the same events again are the same append
            same(StreamState.streamRevision(2), get(db.appendToStream(stream, isNew, events.iterator())).getNextExpectedRevision());
        refused(WrongExpectedVersionException.class, () -> get(db.appendToStream(stream, isNew, json("Late", 4))));

        List<ResolvedEvent> read = get(db.readStream(stream, ReadStreamOptions.get().fromStart())).getEvents();
        same(3, read.size());
        for (int i = 0; i < 3; ++i) {
            RecordedEvent event = read.get(i).getEvent();
            same(events.get(i).getEventId(), event.getEventId());
            same("Placed", event.getEventType());
            same("{\"number\":" + (i + 1) + "}", text(event.getEventData()));
            same("{\"by\":\"walk\"}", text(event.getUserMetadata()));
            same((long) i, event.getRevision());
        }
        List<Long> backwards = new ArrayList<>();
        for (ResolvedEvent event : get(db.readStream(stream, ReadStreamOptions.get().backwards().fromEnd().maxCount(2))).getEvents())
            backwards.add(event.getEvent().getRevision());
        same(List.of(2L, 1L), backwards);
        get(db.appendToStream(stream, AppendToStreamOptions.get().streamState(StreamState.streamExists()),
                EventData.builderAsBinary("Scanned", new byte[] {0, (byte) 255}).build()));
        ResolvedEvent last = get(db.readAll(ReadAllOptions.get().backwards().fromEnd().maxCount(1))).getEvents().get(0);
        same("[0, -1]", java.util.Arrays.toString(last.getEvent().getEventData()));

        // A subscription catches up, and goes on live.
        BlockingQueue<ResolvedEvent> seen = new LinkedBlockingQueue<>();
        Subscription subscription = get(db.subscribeToStream(stream, new SubscriptionListener() {
            @Override
            public void onEvent(Subscription of, ResolvedEvent event) {
                seen.add(event);
            }
        }, SubscribeToStreamOptions.get().fromStart()));
        for (int i = 0; i < 4; ++i) next(seen);
        get(db.appendToStream(stream, json("Live", 5)));
        same("Live", next(seen).getEvent().getEventType());
        subscription.stop();

        boolean linked = false;
        for (ResolvedEvent event : get(db.readStream("$ce-order", ReadStreamOptions.get().fromStart().resolveLinkTos())).getEvents())
            linked |= event.getEvent() != null && event.getEvent().getStreamId().equals(stream)
                    && event.getLink().getStreamId().equals("$ce-order");
        same(true, linked);

        StreamMetadata metadata = new StreamMetadata();
        metadata.setMaxCount(2L);
        get(db.setStreamMetadata(stream, metadata));
        same(2L, get(db.getStreamMetadata(stream)).getMaxCount());
        same(2, get(db.readStream(stream, ReadStreamOptions.get().fromStart())).getEvents().size());
        get(db.deleteStream(stream));
        refused(StreamNotFoundException.class, () -> get(db.readStream(stream, ReadStreamOptions.get())));
        get(db.appendToStream(stream, json("Again", 6)));
        same(5L, get(db.readStream(stream, ReadStreamOptions.get().fromStart())).getEvents().get(0).getEvent().getRevision());
        get(db.tombstoneStream(stream));
        refused(StreamDeletedException.class, () -> get(db.deleteStream(stream)));
        // Of a read this client makes no exception of its own of it.
        refused(io.grpc.StatusRuntimeException.class, () -> get(db.readStream(stream, ReadStreamOptions.get())));
        System.out.println("java: done");
    }

    static void until(KurrentDBPersistentSubscriptionsClient db, String stream, Predicate<PersistentSubscriptionStats> holds)
            throws Exception {
        for (int tries = 0; tries < 100; ++tries, Thread.sleep(100))
            if (holds.test(get(db.getInfoToStream(stream, "workers")).orElseThrow().getStats())) return;
        throw new AssertionError("the figures did not come true");
    }

    record Given(PersistentSubscription by, ResolvedEvent event) {}

    static class Worker extends PersistentSubscriptionListener {
        final BlockingQueue<Given> given = new LinkedBlockingQueue<>();

        @Override
        public void onEvent(PersistentSubscription by, int retries, ResolvedEvent event) {
            given.add(new Given(by, event));
        }

        Given next() throws Exception {
            Given one = given.poll(20, TimeUnit.SECONDS);
            if (one == null) throw new AssertionError("no event was given");
            return one;
        }
    }

    @SuppressWarnings("unchecked")
    static void persistent(KurrentDBClient streams) throws Exception {
        KurrentDBPersistentSubscriptionsClient db = KurrentDBPersistentSubscriptionsClient.from(streams);
        String stream = "job-" + UUID.randomUUID();
        for (int n = 1; n <= 4; ++n) get(streams.appendToStream(stream, json("Asked", n)));
        CreatePersistentSubscriptionToStreamOptions fromStart = CreatePersistentSubscriptionToStreamOptions.get().fromStart();
        get(db.createToStream(stream, "workers", fromStart));
        refused(Exception.class, () -> get(db.createToStream(stream, "workers", fromStart)));

        Worker worker = new Worker();
        PersistentSubscription subscription = get(db.subscribeToStream(stream, "workers", worker));
        for (int n = 1; n <= 4; ++n) {
            Given one = worker.next();
            same("{\"number\":" + n + "}", text(one.event().getEvent().getEventData()));
            if (n == 3) one.by().nack(NackAction.Park, "not today", one.event());
            else one.by().ack(one.event());
        }
        until(db, stream, figures -> figures.getParkedMessageCount() == 1 && figures.getTotalInFlightMessages() == 0);
        get(db.replayParkedMessagesToStream(stream, "workers"));
        Given again = worker.next();
        same("{\"number\":3}", text(again.event().getEvent().getEventData()));
        again.by().ack(again.event());
        until(db, stream, figures -> figures.getParkedMessageCount() == 0 && figures.getTotalInFlightMessages() == 0);
        subscription.stop();

        boolean listed = false;
        for (PersistentSubscriptionInfo info : get(db.listAll()))
            listed |= info.getEventSource().equals(stream) && info.getGroupName().equals("workers");
        same(true, listed);
        get(db.deleteToStream(stream, "workers"));
        same(true, get(db.getInfoToStream(stream, "workers")).isEmpty());
        System.out.println("java, persistent subscriptions: done");
    }

    public static void main(String[] arguments) throws Exception {
        KurrentDBClient db = KurrentDBClient.create(
                KurrentDBConnectionString.parseOrThrow("kurrentdb://" + arguments[0] + "?tls=false"));
        streams(db);
        persistent(db);
        get(db.shutdown());
        System.exit(0);
    }
}
