"""A pytest file that measures one case: right outputs, the right device, what the workload promises, budgets."""

from __future__ import annotations

from collections.abc import Sequence

from modeldyno.advise.generate.budgets import Budget
from modeldyno.advise.generate.quote import fill, has_template, plain, python_sizes, python_text, read_template
from modeldyno.advise.generate.wanted import Subject

_COMMAND_WIDTH = 84


def name(subject: Subject) -> str:
    return f"test_{subject.slug}.py"


def notes(subject: Subject, budgets: Sequence[Budget]) -> tuple[str, ...]:
    if not budgets:
        return (f"No budget is asserted, for the store has no result of this case; get one with: {subject.command}",)
    if not all(budget.trusted for budget in budgets):
        return ("The budgets rest on results whose passports do not call them valid; repeat them in quiet.",)
    return ()


def render(subject: Subject, budgets: Sequence[Budget]) -> str:
    case = subject.case
    values = {
        "TITLE": subject.title,
        "FILE": name(subject),
        "ARCHITECTURE": _architecture(subject),
        "WORKLOAD": python_text(case.workload),
        "MODEL": python_text(case.model),
        "PLATFORM": python_text(case.platform),
        "INDEX": str(case.index),
        "RUNTIME": python_text(case.runtime),
        "PRECISION": python_text(str(case.precision)),
        "BATCH": str(case.batch),
        "SHAPE": python_sizes(case.shape),
        "DEVICE": python_text(budgets[0].device) if budgets else "None",
        "BUDGETS": "\n".join(_budget_lines(budgets)),
        "COMMAND": _command(subject),
    }
    return fill("\n\n".join(part.strip("\n") + "\n" for part in _parts(subject, budgets)), values)


def _parts(subject: Subject, budgets: Sequence[Budget]) -> list[str]:
    """Those of a workload are found by its name."""
    workload = subject.case.workload
    outputs, own = f"pytest_outputs_{workload}.py.txt", f"pytest_{workload}.py.txt"
    names = [outputs if has_template(outputs) else "pytest_outputs.py.txt"]
    names += [own] if has_template(own) else []
    names += ["pytest_budgets.py.txt"] if budgets else ["pytest_no_budgets.py.txt"]
    return [read_template(part) for part in ("pytest.py.txt", *names)]


def _architecture(subject: Subject) -> str:
    """What goes in and out, in the words of the architecture itself."""
    member = subject.spec.member
    if member is None:
        return "An ONNX file: what its graph takes in, what it puts out."
    told = " ".join((type(member).__doc__ or "One step of the model.").split())
    return plain(f"{member.name}: {told[0].lower()}{told[1:]}").partition(". ")[0].rstrip(".") + "."


def _budget_lines(budgets: Sequence[Budget]) -> list[str]:
    lines = []
    for one in budgets:
        lines.append(f"    # {plain(one.reached)} in record {plain(one.record_id)};")
        lines.append(f"    # the worst of {one.records} {_spread(one)}, and {one.margin:.0%}")
        lines.append(f'    "{one.metric}": ("{one.side}", {one.limit!r}),')
    return lines


def _spread(budget: Budget) -> str:
    return "record(s)" if budget.trusted else "record(s) of a host that was not quiet"


def _command(subject: Subject) -> str:
    """As comment lines; a name with odd letters is left to the reader."""
    command = subject.command
    if plain(command) != command:
        return "#     dyno run MODEL --on PLATFORM, with the values of CASE"
    lines = [""]
    for word in command.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) > _COMMAND_WIDTH - 10:
            lines[-1] += " \\"
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(f"#     {line}" for line in lines)
