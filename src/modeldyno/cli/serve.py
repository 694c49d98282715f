"""`dyno serve`: the REST API and the dashboard."""

from __future__ import annotations

import contextlib
import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_warning

if TYPE_CHECKING:
    import socket

    from modeldyno.web.house import House
    from modeldyno.web.settings import Settings


def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen at; 127.0.0.1 else, for this machine only.")
    ] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Default: 8000; 0 takes a free one.")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings as YAML, TOML or JSON; see docs/server.md.")] = None,
    jobs: Annotated[bool | None, typer.Option("--jobs/--no-jobs", help="Carry out jobs here.")] = None,
    log: Annotated[str | None, typer.Option(help="Form of the log on stderr: text or json.")] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Serve the REST API and the dashboard over the store, until interrupted."""
    from modeldyno.core.errors import JobError
    from modeldyno.store.store import Store
    from modeldyno.web.settings import read
    from modeldyno.web.shelf import Shelf

    given = {"host": host, "port": port, "jobs": jobs, "log": log, "store": Path(store) if store else None}
    settings = read(config, given)
    listener = _listener(settings)
    gc.disable()  # what is made now stays: to look for garbage in it would take a tenth of the start
    shelf = Shelf(Store(settings.store), print_warning)  # reads the store while the rest is imported
    try:
        import uvicorn

        from modeldyno.web.app import create_app
    except ImportError as error:
        raise JobError(f"The server needs {error.name}; install it with: pip install 'modeldyno[server]'") from None
    app = create_app(settings, shelf)
    gc.freeze()
    gc.enable()
    house: House = app.state.house
    _log(settings)
    house.start()  # what keeps it from starting is told before anyone is invited
    _say(house, settings, listener.getsockname()[1], json)
    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False}
    server = uvicorn.Server(uvicorn.Config(app, timeout_graceful_shutdown=15, proxy_headers=False, **quiet))
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn has stopped in order, and hands the signal on
        server.run(sockets=[listener])


def _listener(settings: Settings) -> socket.socket:
    """Opened before any work, so that an address that is taken shows at once."""
    import socket

    from modeldyno.core.errors import InputError

    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, so that asyncio sets no delay
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((settings.host, settings.port))
        found.listen(2048)
    except OSError as error:
        found.close()
        raise InputError(
            f"Cannot listen at {settings.host}:{settings.port}: {error.strerror}; give another --port or --host."
        ) from None
    return found


def _say(house: House, settings: Settings, port: int, json: bool) -> None:
    """Where it is, and the link to log in with as long as there is no user."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = settings.public_url or f"http://{host}:{port}"
    first = not house.book.users.all() and house.guard.open_reading
    link = f"{address}/one-time?secret={house.book.one_time_link_secret()}" if first else None
    if json:
        print_json({"address": address, "dashboard": f"{address}/dashboard", "one_time_link": link})
        return
    print_line(f"Dashboard: {address}/dashboard")
    if link:
        print_line(f"To start runs, open this link once within 15 minutes: {link}")
        print_note("Or add users: dyno users add NAME --role runner")


def _log(settings: Settings) -> None:
    import logging
    import sys

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s" if settings.log == "json" else "%(asctime)s %(message)s"))
    logger = logging.getLogger("modeldyno.web")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
