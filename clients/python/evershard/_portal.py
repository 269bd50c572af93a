"""The event loop that blocking clients share: one thread a process, started with the first client."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable
from typing import Any, TypeVar

from ._errors import CallCancelledError

T = TypeVar("T")


class Interrupted(Exception):
    """What ends a thread and is no Exception, as sys.exit() is: carried past the loop, which it would end for everybody. `cause` has it."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(repr(cause))
        self.cause = cause


class Portal:
    _shared: Portal | None = None
    _lock = threading.Lock()

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_quietly)
        self._thread = threading.Thread(target=self._loop.run_forever, name="evershard", daemon=True)
        self._thread.start()

    @classmethod
    def shared(cls) -> Portal:
        with cls._lock:
            if cls._shared is None:
                cls._shared = cls()
            return cls._shared

    @classmethod
    def _forget(cls) -> None:
        cls._lock = threading.Lock()
        cls._shared = None

    def leave(self, work: Coroutine[Any, Any, Any]) -> None:
        """Begun, and not waited for: from any thread, also this one's own."""
        if self._loop.is_closed():
            work.close()
        else:
            asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Its result. An interruption of the caller (Ctrl-C) cancels the work."""
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("a blocking call from evershard's own thread would wait for itself")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise CallCancelledError("the call was cancelled") from None
        except BaseException:
            future.cancel()
            raise


def _quietly(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    # gRPC before 1.7x wakes every loop of a process for each other's calls, and trips over it, without consequence.
    if not isinstance(context.get("exception"), BlockingIOError):
        loop.default_exception_handler(context)


async def from_thread(items: Iterable[T], ahead: int) -> AsyncIterator[T]:
    """Iterates over them in a thread of their own, at most so many `ahead`, so that slow ones delay nobody else. Left early, the thread ends with
    the next item."""
    loop, room, left = (
        asyncio.get_running_loop(),
        threading.Semaphore(ahead),
        threading.Event(),
    )
    queue: asyncio.Queue[tuple[bool, Any]] = asyncio.Queue()  # items, and last the error or None

    def put(is_item: bool, item: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(queue.put_nowait, (is_item, item))

    def feed() -> None:
        try:
            room.acquire()
            for item in items:
                put(True, item)
                room.acquire()
                if left.is_set():
                    return
            put(False, None)
        except BaseException as error:
            put(False, error)

    threading.Thread(target=feed, name="evershard-appends", daemon=True).start()
    try:
        while (got := await queue.get())[0]:
            room.release()
            yield got[1]
        if isinstance(got[1], Exception):
            raise got[1]
        if got[1] is not None:
            raise Interrupted(got[1])
    finally:
        left.set()
        room.release()


os.register_at_fork(after_in_child=Portal._forget)
