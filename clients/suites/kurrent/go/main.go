// A walk through Kurrent's own Go client: append, conflict, read, subscribe, delete.
// Usage: walk HOST:PORT
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/google/uuid"
	"github.com/kurrent-io/KurrentDB-Client-Go/kurrentdb"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func check(holds bool, what string) {
	if !holds {
		log.Fatal(what)
	}
}

func collect(stream *kurrentdb.ReadStream, err error) []*kurrentdb.ResolvedEvent {
	must(err)
	defer stream.Close()
	var events []*kurrentdb.ResolvedEvent
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return events
		}
		must(err)
		events = append(events, event)
	}
}

func event(kind, data string) kurrentdb.EventData {
	return kurrentdb.EventData{EventID: uuid.New(), ContentType: kurrentdb.ContentTypeJson, EventType: kind, Data: []byte(data)}
}

func main() {
	settings, err := kurrentdb.ParseConnectionString("kurrentdb://" + os.Args[1] + "?tls=false")
	must(err)
	db, err := kurrentdb.NewClient(settings)
	must(err)
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	stream := "order-" + uuid.NewString()
	none := kurrentdb.AppendToStreamOptions{StreamState: kurrentdb.NoStream{}}
	written, err := db.AppendToStream(ctx, stream, none, event("Placed", `{"n":1}`), event("Paid", `{"n":2}`))
	must(err)
	check(written.NextExpectedVersion == 1, "two events were appended")
	_, err = db.AppendToStream(ctx, stream, none, event("Late", `{}`))
	failure, ok := kurrentdb.FromError(err)
	check(!ok && failure.Code() == kurrentdb.ErrorCodeWrongExpectedVersion, "a second beginning was taken")

	events := collect(db.ReadStream(ctx, stream, kurrentdb.ReadStreamOptions{}, 100))
	check(len(events) == 2 && events[1].OriginalEvent().EventType == "Paid", "the stream is read")
	events = collect(db.ReadStream(ctx, stream, kurrentdb.ReadStreamOptions{Direction: kurrentdb.Backwards, From: kurrentdb.End{}}, 1))
	check(len(events) == 1 && events[0].OriginalEvent().EventNumber == 1, "the stream is read backwards")
	events = collect(db.ReadAll(ctx, kurrentdb.ReadAllOptions{Direction: kurrentdb.Backwards, From: kurrentdb.End{}}, 1))
	check(events[0].OriginalEvent().StreamID == stream, "$all ends with it")

	subscription, err := db.SubscribeToStream(ctx, stream, kurrentdb.SubscribeToStreamOptions{From: kurrentdb.Start{}})
	must(err)
	for seen := 0; seen < 3; {
		came := subscription.Recv()
		check(came.SubscriptionDropped == nil, "the subscription goes on")
		if came.EventAppeared == nil {
			continue
		}
		seen++
		if seen == 2 {
			_, err = db.AppendToStream(ctx, stream, kurrentdb.AppendToStreamOptions{}, event("Live", `{}`))
			must(err)
		}
	}
	must(subscription.Close())

	_, err = db.DeleteStream(ctx, stream, kurrentdb.DeleteStreamOptions{})
	must(err)
	deleted, err := db.ReadStream(ctx, stream, kurrentdb.ReadStreamOptions{}, 1)
	if err == nil {
		_, err = deleted.Recv()
	}
	failure, ok = kurrentdb.FromError(err)
	check(!ok && failure.Code() == kurrentdb.ErrorCodeResourceNotFound, "a deleted stream was read")
	fmt.Println("go: done")
}
