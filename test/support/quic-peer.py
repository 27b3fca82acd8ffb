"""A QUIC client of another implementation: its standard input goes to one stream, what the stream
brings to its standard output. Says `closed CODE REASON` on standard error at the end.

python3 quic-peer.py PORT CERTIFICATE
"""

import asyncio
import sys

from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated


class Peer(QuicConnectionProtocol):
    def quic_event_received(self, event):
        if isinstance(event, ConnectionTerminated):
            print("closed", event.error_code, event.reason_phrase, file=sys.stderr, flush=True)
        super().quic_event_received(event)


async def main(port, certificate):
    configuration = QuicConfiguration(is_client=True, alpn_protocols=["heliograph"])
    configuration.load_verify_locations(cafile=certificate)
    async with connect(
        "127.0.0.1", port, configuration=configuration, create_protocol=Peer
    ) as peer:
        incoming, outgoing = await peer.create_stream()

        async def send():
            given = asyncio.StreamReader()
            loop = asyncio.get_running_loop()
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(given), sys.stdin)
            while chunk := await given.read(65536):
                outgoing.write(chunk)
            peer.close()

        sending = asyncio.create_task(send())
        while chunk := await incoming.read(65536):
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
        # What the gateway says as it closes the connection.
        await peer.wait_closed()
        sending.cancel()


asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
