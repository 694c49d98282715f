"""A report by mail: the findings as its text, the files attached, over the SMTP server that the environment names."""

from __future__ import annotations

import mimetypes
import os
import re
import smtplib
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from modeldyno.core.errors import InputError, JobError
from modeldyno.core.types import Frozen
from modeldyno.reports.document import Document
from modeldyno.reports.words import NOTHING

TIMEOUT_S = 30.0
"""For each answer of the server."""
_PORTS = {"smtp": 25, "smtps": 465, "smtp+starttls": 587}
_EXAMPLE = "DYNO_SMTP=smtp+starttls://mail.example.org:587"
_AT_HOME = ("localhost", "127.0.0.1", "::1")


class Server(Frozen):
    """Where mail is handed in, and as whom."""

    scheme: str
    host: str
    port: int
    sender: str
    user: str | None = None
    password: SecretStr = SecretStr("")


def server_of(environment: Mapping[str, str] = os.environ) -> Server:
    """What the DYNO_SMTP and DYNO_MAIL variables say. The address itself is never repeated: it may hold a password."""
    scheme, host, port = _place(environment.get("DYNO_SMTP", ""))
    user = environment.get("DYNO_SMTP_USER") or None
    if user and scheme == "smtp" and host not in _AT_HOME:
        raise InputError(
            f"The password would go to {host} for all to read; write smtp+starttls:// or smtps:// in DYNO_SMTP."
        )
    return Server(
        scheme=scheme,
        host=host,
        port=port,
        sender=_sender(environment.get("DYNO_MAIL_FROM") or user or ""),
        user=user,
        password=SecretStr(environment.get("DYNO_SMTP_PASSWORD", "")),
    )


def _place(address: str) -> tuple[str, str, int]:
    if not address:
        raise InputError(f"No mail server is known; set {_EXAMPLE}, or leave out --mail.")
    if "@" in address:
        raise InputError("DYNO_SMTP holds a user; put user and password into DYNO_SMTP_USER and DYNO_SMTP_PASSWORD.")
    try:
        parts = urlsplit(address)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError:
        scheme, host, port = "", None, None
    if scheme not in _PORTS or not host or port == 0 or parts.path.strip("/"):
        raise InputError(f"DYNO_SMTP is no address of a mail server; set it like {_EXAMPLE} ({', '.join(_PORTS)}).")
    return scheme, host, port or _PORTS[scheme]


def _sender(text: str) -> str:
    if "@" not in text:
        raise InputError("The mail has no sender; set DYNO_MAIL_FROM=reports@example.org.")
    return mail_address(text)


def mail_address(text: str) -> str:
    """One plain address; names, lists and whatever could begin another header are refused."""
    if not re.fullmatch(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?", text):
        raise InputError(f"{text[:80]!r} is no mail address; write it like reports@example.org.")
    return text


def mail_report(document: Document, files: Sequence[Path], to: tuple[str, ...]) -> None:
    """Send a report's files to these addresses, by the server that the environment names."""
    server = server_of()
    send(letter(document, files, server.sender, to), server)


def letter(document: Document, files: Sequence[Path], sender: str, to: Sequence[str]) -> EmailMessage:
    """The mail itself."""
    message = EmailMessage(policy=SMTP)
    message["Subject"] = f"{_one_line(document.title)[:200]}, {document.made_at:%Y-%m-%d}"
    message["From"] = mail_address(sender)
    message["To"] = ", ".join(map(mail_address, to))
    message["Date"] = format_datetime(document.made_at)
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_text(document, files))
    for path in files:
        _attach(message, path)
    return message


def _text(document: Document, files: Sequence[Path]) -> str:
    found = [f"- {_one_line(finding.text)}" for finding in document.findings] or [NOTHING]
    made = f"Made by modeldyno {document.version} on {_moment(document.made_at)} from {document.scope.records} records."
    names = ", ".join(_one_line(path.name) for path in files)
    return "\n".join([_one_line(document.title), "", *found, "", f"Attached: {names}.", made, ""])


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M %Z}".strip()


def _attach(message: EmailMessage, path: Path) -> None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise JobError(f"Cannot read {path} ({error.strerror}); write the report again.") from None
    kind, _, detail = (mimetypes.guess_type(path.name)[0] or "application/octet-stream").partition("/")
    message.add_attachment(content, maintype=kind, subtype=detail, filename=_one_line(path.name))


def _one_line(text: str) -> str:
    """Without line ends and other control characters: a title must not begin a header."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(printable.split())


def send(message: EmailMessage, server: Server, timeout_s: float = TIMEOUT_S) -> None:
    """Hand it in. Whatever goes wrong is a JobError that ends in what to do."""
    place = f"{server.host}:{server.port}"
    with _as_sentences(place):
        connection = _connect(server, timeout_s)
        try:
            if server.user:
                connection.login(server.user, server.password.get_secret_value())
            refused = connection.send_message(message)
        finally:
            with suppress(smtplib.SMTPException, OSError):
                connection.quit()
            connection.close()
    if refused:
        raise JobError(f"{place} refused {_refusals(refused)}; the others have it, correct the addresses.")


def _connect(server: Server, timeout_s: float) -> smtplib.SMTP:
    if server.scheme == "smtps":
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(server.host, server.port, timeout=timeout_s, context=context)
    connection = smtplib.SMTP(server.host, server.port, timeout=timeout_s)
    if server.scheme == "smtp":
        return connection
    try:
        connection.starttls(context=ssl.create_default_context())
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _as_sentences(place: str) -> Iterator[None]:
    try:
        yield
    except (smtplib.SMTPException, OSError, UnicodeError) as error:
        raise JobError(_sentence(error, place)) from None


def _sentence(error: Exception, place: str) -> str:
    for kind, told in _SENTENCES.items():
        if isinstance(error, kind):
            return told(error, place)
    return f"{place} could not be reached ({_reason(error)}); check DYNO_SMTP and the network."


def _refusals(refused: Mapping[str, tuple[int, bytes]]) -> str:
    return ", ".join(f"{address} ({_answer(*told)})" for address, told in sorted(refused.items()))


def _answer(code: int, text: bytes | str) -> str:
    """What the server said, as one short line."""
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return f"{code} {_one_line(words)[:200]}".strip()


def _reason(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return _answer(error.smtp_code, error.smtp_error)
    return _one_line(getattr(error, "strerror", None) or str(error))[:200] or type(error).__name__


def _too_large(error: Exception, place: str) -> str:
    if getattr(error, "smtp_code", 0) == 552:
        return f"The report is too large for {place} ({_reason(error)}); choose fewer formats with --format."
    return f"{place} does not take the mail ({_reason(error)}); check DYNO_MAIL_FROM, or ask who runs the server."


def _silent(_: Exception, place: str) -> str:
    return f"{place} does not answer; check DYNO_SMTP, and whether a firewall is between."


def _hung_up(error: Exception, place: str) -> str:
    """smtplib says so too when it has waited too long."""
    if isinstance(error.__context__, TimeoutError):
        return _silent(error, place)
    return f"{place} hung up ({_reason(error)}); check scheme and port of DYNO_SMTP, and try again."


_Told = Callable[..., str]
_SENTENCES: dict[type[Exception], _Told] = {
    # The first that fits counts. What the server says to a wrong password is left out: it might repeat it.
    smtplib.SMTPAuthenticationError: lambda error, place: (
        f"{place} does not know this user with this password ({error.smtp_code}); "
        "check DYNO_SMTP_USER and DYNO_SMTP_PASSWORD."
    ),
    smtplib.SMTPRecipientsRefused: lambda error, place: (
        f"{place} refused {_refusals(error.recipients)}; correct the addresses: dyno schedule remove, then add."
    ),
    smtplib.SMTPSenderRefused: _too_large,
    smtplib.SMTPDataError: _too_large,
    smtplib.SMTPNotSupportedError: lambda error, place: (
        f"{place} cannot do what is asked of it ({_reason(error)}); check the scheme of DYNO_SMTP and DYNO_SMTP_USER."
    ),
    ssl.SSLCertVerificationError: lambda error, place: (
        f"The certificate of {place} is not to be trusted ({_one_line(error.verify_message)}); correct DYNO_SMTP, or "
        "name the file of its authority in SSL_CERT_FILE."
    ),
    ssl.SSLError: lambda error, place: (
        f"{place} speaks no TLS here ({_one_line(error.reason or '')}); check scheme and port of DYNO_SMTP."
    ),
    smtplib.SMTPServerDisconnected: _hung_up,
    TimeoutError: _silent,
}
