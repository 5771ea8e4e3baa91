"""One way to drive the sync and the async client of every SDK."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Literal

import pytest

Pick = Callable[[Any], Callable[..., Any]]


class Driver:
    """Calls an SDK method, plain or as a stream, on its sync or its async client."""

    def __init__(self, mode: Literal["sync", "async"], client: Callable[[], Any]) -> None:
        self.mode = mode
        self._client = client

    def call(self, pick: Pick, **arguments: Any) -> Any:
        """What the SDK returns."""
        if self.mode == "sync":
            sync_client: AbstractContextManager[Any] = self._client()
            with sync_client as client:
                return pick(client)(**arguments)

        async def run() -> Any:
            async_client: AbstractAsyncContextManager[Any] = self._client()
            async with async_client as client:
                return await pick(client)(**arguments)

        return asyncio.run(run())

    def stream(self, pick: Pick, **arguments: Any) -> tuple[list[Any], Exception | None]:
        """The events the SDK yields, and the exception that ended them, if one did."""
        events: list[Any] = []

        async def run() -> None:
            async with self._client() as client:
                async for event in await pick(client)(**arguments):
                    events.append(event)

        try:
            if self.mode == "async":
                asyncio.run(run())
            else:
                with self._client() as client:
                    for event in pick(client)(**arguments):
                        events.append(event)
        except Exception as error:
            return events, error
        return events, None


@pytest.fixture(params=["sync", "async"])
def drive(request: pytest.FixtureRequest) -> Callable[[Callable[[], Any], Callable[[], Any]], Driver]:
    """Given how to make an SDK's sync and its async client, a driver of one of the two."""
    mode = request.param
    return lambda sync_client, async_client: Driver(mode, sync_client if mode == "sync" else async_client)
