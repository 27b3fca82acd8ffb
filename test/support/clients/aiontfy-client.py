# Does what Home Assistant's integration of ntfy does: account, version, subscribe, publish.
import asyncio, sys

from aiontfy import Event, Message, Ntfy
from aiontfy.exceptions import NtfyNotFoundPageError


async def main(url: str, topic: str) -> None:
    async with Ntfy(url) as ntfy:
        account = await ntfy.account()
        print("account", account.username, account.stats.messages)
        try:
            print("version", await ntfy.version())
        except NtfyNotFoundPageError as refused:
            print("version", refused.code)
        opened, heard = asyncio.Event(), asyncio.Queue()

        def take(notification) -> None:
            if notification.event == Event.OPEN:
                opened.set()
            if notification.event == Event.MESSAGE:
                heard.put_nowait(notification)

        following = asyncio.create_task(ntfy.subscribe([topic], take))
        await asyncio.wait_for(opened.wait(), 20)
        sent = await ntfy.publish(
            Message(topic=topic, title="Frost", message="tonight", priority=4, tags=["cellar"])
        )
        got = await asyncio.wait_for(heard.get(), 20)
        print("heard", got.id == sent.id, got.title, got.message, int(got.priority), got.tags)
        following.cancel()


asyncio.run(main(*sys.argv[1:]))
