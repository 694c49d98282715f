"""What a pool says no with; a failing load or step brings its own error."""

from __future__ import annotations

from modeldyno.core.errors import JobError


class TooLarge(JobError):
    """The model alone takes more than the budget."""


class NoRoom(JobError):
    """The models in use left no room for this one in time."""


class StillLoading(JobError):
    """Another borrower's load of the model did not end in time."""


class Broken(JobError):
    """The model failed in the hands of another borrower."""


class Resting(JobError):
    """The model failed too often in a row and is left alone for a while."""


class Closed(JobError):
    """The pool was closed."""
