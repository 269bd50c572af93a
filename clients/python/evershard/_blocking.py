"""What the blocking client is made with: calls of the asyncio client, each with its words and its docstring, waited for in the caller's thread."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from ._portal import Portal


class _Closes(Protocol):
    async def close(self) -> None: ...


P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound=_Closes)


class _Blocking(Protocol):
    _portal: Portal
    _aio: Any  #: whose calls these are


def blocking(call: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> Callable[Concatenate[Any, P], T]:
    """Its result."""

    @functools.wraps(call)
    def run(self: _Blocking, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._portal.run(call(self._aio, *args, **kwargs))

    return run


def iterated(
    call: Callable[Concatenate[Any, P], AsyncIterator[T]], ahead: int
) -> Callable[Concatenate[Any, P], Iterator[T]]:
    """Its items, fetched so many at a time, or as many as a `page` that the caller names."""

    @functools.wraps(call)
    def run(self: _Blocking, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        items, most = call(self._aio, *args, **kwargs), kwargs.get("page")
        while some := self._portal.run(some_of(items, most if isinstance(most, int) else ahead)):
            yield from some

    return run


def streamed(
    call: Callable[Concatenate[Any, P], S], make: Callable[[Portal, S], T]
) -> Callable[Concatenate[Any, P], T]:
    """The stream that it begins, as a blocking one."""

    @functools.wraps(call)
    def run(self: _Blocking, /, *args: P.args, **kwargs: P.kwargs) -> T:
        async def begin() -> S:  # streams begin in the loop's thread
            return call(self._aio, *args, **kwargs)

        return make(self._portal, self._portal.run(begin()))

    return run


async def some_of(items: AsyncIterator[T], most: int) -> list[T]:
    """The next ones, at most so many; none: there are no more."""
    some: list[T] = []
    while len(some) < most:
        try:
            some.append(await anext(items))
        except StopAsyncIteration:
            break
    return some
