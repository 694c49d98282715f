"""Reports by mail, handed to a real SMTP server on this machine."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword
from hypothesis import given, settings
from hypothesis import strategies as st
from world import a_run, a_store, records

from modeldyno.core.errors import InputError, JobError
from modeldyno.reports.document import Document, Finding, Scope
from modeldyno.reports.mail import Server, letter, mail_address, send, server_of
from modeldyno.reports.order import Order
from modeldyno.reports.schedule import Schedule

PASSWORD = "correct horse"
TO = ("buyer@example.org", "engineer@example.org")
FROM = "reports@example.org"


class Box:
    """What the server was given; it refuses whoever is called nobody."""

    def __init__(self) -> None:
        self.mails: list[tuple[list[str], EmailMessage]] = []

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:
        if address.startswith("nobody"):
            return "550 no such\tmailbox \x1b[31mhere"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        mail = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(mail, EmailMessage)
        self.mails.append((list(envelope.rcpt_tos), mail))
        return "250 OK"


def _knows(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    """A server that says too much."""
    if data == LoginPassword(b"reports", PASSWORD.encode()):
        return AuthResult(success=True)
    return AuthResult(success=False, handled=False, message=f"535 wrong: {data.password.decode()}")


@contextmanager
def serving(box: Box, tls: ssl.SSLContext | None = None, **options: Any) -> Iterator[int]:
    """The port of a server that runs beside the test."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> asyncio.Server:
        return await loop.create_server(lambda: SMTP(box, loop=loop, **options), "127.0.0.1", 0, ssl=tls)

    async def stop() -> None:
        server.close()
        await server.wait_closed()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    server = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def server_at(port: int, scheme: str = "smtp", host: str = "127.0.0.1", **environment: str) -> Server:
    return server_of({"DYNO_SMTP": f"{scheme}://{host}:{port}", "DYNO_MAIL_FROM": FROM, **environment})


def a_document(title: str = "Speed", *findings: str) -> Document:
    return Document(
        report="performance",
        title=title,
        made_at=datetime(2026, 3, 2, 6, tzinfo=UTC),
        version="0.1.0",
        scope=Scope(records=14, since=None, until=None, provenance={"measured": 14}),
        findings=tuple(Finding(text=text) for text in findings),
        sections=(),
        reproduce=(),
    )


def a_letter(to: tuple[str, ...] = TO) -> EmailMessage:
    return letter(a_document("Speed", "alpha is fastest on cuda: 1.2 ms"), [], FROM, to)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Signed by nobody but itself, for localhost."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not here")
    folder = tmp_path_factory.mktemp("certificate")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", "both.pem", "-out", "certificate.pem"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text(both.read_text() + (folder / "certificate.pem").read_text())
    return both


def tls_of(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_a_report_arrives_with_its_findings_and_files(tmp_path: Path) -> None:
    page, table = tmp_path / "speed.html", tmp_path / "spéed.bin-x"
    page.write_text("<h1>Speed 🚀</h1>\r\n.\r\n" + "x" * 2000)
    table.write_bytes(bytes(range(256)))
    box = Box()
    with serving(box) as port:
        text = letter(a_document("Speed 🚀", "alpha is fastest: 1.2 ms ± 0.1", ".\n.. slower"), [page, table], FROM, TO)
        send(text, server_at(port))
    [(to, mail)] = box.mails
    assert to == list(TO)
    assert mail["Subject"] == "Speed 🚀, 2026-03-02"
    assert (mail["From"], mail["To"]) == (FROM, ", ".join(TO))
    assert mail["Message-ID"].endswith("@example.org>")
    body = mail.get_body(("plain",))
    assert body is not None
    assert "- alpha is fastest: 1.2 ms ± 0.1" in body.get_content()
    assert "- . .. slower" in body.get_content()
    assert "14 records" in body.get_content()
    first, second = mail.iter_attachments()
    assert (first.get_filename(), first.get_content_type()) == ("speed.html", "text/html")
    assert first.get_payload(decode=True) == page.read_bytes()
    assert (second.get_filename(), second.get_payload(decode=True)) == ("spéed.bin-x", table.read_bytes())


@settings(deadline=None, max_examples=60)
@given(st.text(), st.lists(st.text(), max_size=3))
def test_no_text_can_begin_a_header(title: str, findings: list[str]) -> None:
    nasty = f"{title}\r\nBcc: all@example.org\n\n{title}"
    mail = message_from_bytes(bytes(letter(a_document(nasty, *findings), [], FROM, TO)), policy=policy.default)
    headers = {"Subject", "From", "To", "Date", "Message-ID", "Auto-Submitted", "MIME-Version"}
    assert set(mail.keys()) == headers | {"Content-Type", "Content-Transfer-Encoding"}
    assert "\n" not in mail["Subject"]


@settings(deadline=None)
@given(st.text() | st.from_regex(r"[a-z.+]+@[a-z.-]+(\n|,|;| |>)?.*"))
def test_an_address_is_plain_or_refused(text: str) -> None:
    try:
        address = mail_address(text)
    except InputError as error:
        assert "write it like" in str(error)
    else:
        assert address.isascii() and address.isprintable() and not set(address) & set(' ,;:<>"()[]\\\n')
        assert address.count("@") == 1


@pytest.mark.parametrize("wrong", ["", "a", "a@", "@b", "a@b\nBcc: c@d", "A <a@b>", "a@b,c@d", "a@b.c\n", "-@-"])
def test_other_addresses_are_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="no mail address"):
        mail_address(wrong)


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # aiosmtpd of the test's own server
def test_a_password_is_used_and_a_wrong_one_is_never_repeated() -> None:
    box = Box()
    options = {"authenticator": _knows, "auth_require_tls": False, "auth_required": True}
    with serving(box, **options) as port:
        send(a_letter(), server_at(port, DYNO_SMTP_USER="reports", DYNO_SMTP_PASSWORD=PASSWORD))
        wrong = server_at(port, DYNO_SMTP_USER="reports", DYNO_SMTP_PASSWORD="battery staple")
        with pytest.raises(JobError, match="check DYNO_SMTP_USER and DYNO_SMTP_PASSWORD") as refused:
            send(a_letter(), wrong)
        with pytest.raises(JobError, match="ask who runs the server"):
            send(a_letter(), server_at(port))
    assert len(box.mails) == 1
    for text in (str(refused.value), repr(wrong), wrong.model_dump_json()):
        assert "battery" not in text


def test_refused_recipients_are_named_and_the_others_have_it() -> None:
    box = Box()
    with serving(box) as port:
        with pytest.raises(JobError, match=r"nobody@example.org \(550 no such mailbox") as refused:
            send(a_letter((*TO, "nobody@example.org")), server_at(port))
        assert "the others have it" in str(refused.value)
        assert "\x1b" not in str(refused.value)
        with pytest.raises(JobError, match="correct the addresses"):
            send(a_letter(("nobody@example.org",)), server_at(port))
    assert [to for to, _ in box.mails] == [list(TO)]


def test_a_report_that_is_too_large_is_told(tmp_path: Path) -> None:
    large = tmp_path / "large.html"
    large.write_text("x" * 5000)
    with serving(Box(), data_size_limit=1000) as port, pytest.raises(JobError, match="choose fewer formats"):
        send(letter(a_document(), [large], FROM, TO), server_at(port))


@pytest.mark.parametrize("scheme", ["smtp+starttls", "smtps"])
def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: Path, scheme: str) -> None:
    box = Box()
    context = tls_of(certificate)
    wrapped = {"tls": context} if scheme == "smtps" else {"tls_context": context}
    with serving(box, **wrapped) as port, pytest.raises(JobError, match=r"not to be trusted .*SSL_CERT_FILE"):
        send(a_letter(), server_at(port, scheme, "localhost"))
    assert box.mails == []


@pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")  # aiosmtpd of the test's own server
@pytest.mark.parametrize("scheme", ["smtp+starttls", "smtps"])
def test_a_certificate_of_a_known_authority_protects_the_password(
    certificate: Path, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_name("certificate.pem")))
    box = Box()
    context = tls_of(certificate)
    options = {"authenticator": _knows, "auth_required": True}
    wrapped = {"tls": context, "auth_require_tls": False} if scheme == "smtps" else {"tls_context": context}
    with serving(box, **wrapped, **options) as port:
        told = {"DYNO_SMTP_USER": "reports", "DYNO_SMTP_PASSWORD": PASSWORD}
        send(a_letter(), server_at(port, scheme, "localhost", **told))
        with pytest.raises(JobError, match="not to be trusted"):  # the certificate is for another name
            send(a_letter(), server_at(port, scheme, "127.0.0.1"))
    assert len(box.mails) == 1


def test_a_scheduled_report_is_sent(tmp_path: Path, dyno: Any) -> None:
    run = a_run()
    a_store(tmp_path / "dyno.duckdb", run, *records(run, ["alpha"]))
    order = Order(kind="performance", formats=("json",), output=tmp_path / "out", title="Speed\nBcc: x@example.org")
    schedule = Schedule(tmp_path / "dyno.duckdb")
    schedule.add(order, "0 6 * * 1", False, TO, datetime(2020, 1, 1, tzinfo=UTC))
    box = Box()
    with serving(box) as port:
        told = {"DYNO_SMTP": f"smtp://127.0.0.1:{port}", "DYNO_MAIL_FROM": FROM}
        done = dyno("schedule", "run", "--once", env=os.environ | told)
    assert done.returncode == 0, done.stderr
    assert f"sent to {', '.join(TO)}" in done.stdout
    [(to, mail)] = box.mails
    assert to == list(TO)
    assert mail["Subject"].startswith("Speed Bcc: x@example.org, ")
    [attached] = mail.iter_attachments()
    assert attached.get_payload(decode=True) == (tmp_path / "out" / "performance.json").read_bytes()
    body = mail.get_body(("plain",))
    assert body is not None and "from 6 records" in body.get_content()


def test_a_server_without_tls_gets_nothing() -> None:
    box = Box()
    with serving(box) as port:
        with pytest.raises(JobError, match="check the scheme"):
            send(a_letter(), server_at(port, "smtp+starttls"))
        with pytest.raises(JobError, match="scheme and port"):
            send(a_letter(), server_at(port, "smtps"))
    assert box.mails == []


@pytest.mark.parametrize("greeting", [b"", b"220 hello\r\n"])
def test_a_server_that_hangs_is_given_up(greeting: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            taken, _ = listening.accept()
            with taken:
                taken.sendall(greeting)
                while taken.recv(1000):
                    pass

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(JobError, match="does not answer; check DYNO_SMTP"):
            send(a_letter(), server_at(listening.getsockname()[1]), timeout_s=0.2)
        thread.join()


def test_a_server_that_hangs_up_or_is_not_there_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        thread = threading.Thread(target=lambda: listening.accept()[0].close())
        thread.start()
        with pytest.raises(JobError, match=r"hung up|could not be reached"):
            send(a_letter(), server_at(port))
        thread.join()
    with pytest.raises(JobError, match="could not be reached"):
        send(a_letter(), server_at(port))
    with pytest.raises(JobError, match="could not be reached"):
        send(a_letter(), server_at(port, host="a" * 70 + ".invalid"))


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("", "set DYNO_SMTP="),
        ("mail.example.org", "set it like"),
        ("http://mail.example.org", "set it like"),
        ("smtp://", "set it like"),
        ("smtp://host:port", "set it like"),
        ("smtp://host:0", "set it like"),
        ("smtp://host:99999", "set it like"),
        ("smtp://[::1", "set it like"),
        ("smtp://me:battery@host", "DYNO_SMTP_PASSWORD"),
        ("smtp://me:bat#tery@host", "DYNO_SMTP_PASSWORD"),
    ],
)
def test_a_wrong_address_of_the_server_is_told_but_not_repeated(address: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as refused:
        server_of({"DYNO_SMTP": address, "DYNO_MAIL_FROM": FROM})
    assert "bat" not in str(refused.value)


def test_what_the_environment_says_of_the_server() -> None:
    server = server_of({"DYNO_SMTP": "smtps://[::1]", "DYNO_SMTP_USER": "me@example.org"})
    assert (server.scheme, server.host, server.port, server.sender) == ("smtps", "::1", 465, "me@example.org")
    with pytest.raises(InputError, match="set DYNO_MAIL_FROM"):
        server_of({"DYNO_SMTP": "smtp://localhost"})
    with pytest.raises(InputError, match="for all to read"):
        server_at(25, host="mail.example.org", DYNO_SMTP_USER="me")
