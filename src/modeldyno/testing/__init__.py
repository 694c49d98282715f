"""The conformance suite that every plug-in is judged by; shipped, so that outside packages can use it too.

import pytest
from modeldyno.testing import PLATFORM_JUDGES, NotApplicable

@pytest.mark.parametrize("judge", PLATFORM_JUDGES, ids=lambda judge: judge.__name__)
def test_my_platform(judge):
    try:
        judge(MyPlatform())
    except NotApplicable as why:
        pytest.skip(str(why))
"""

from modeldyno.testing._verdict import NotApplicable
from modeldyno.testing.platform import PLATFORM_JUDGES, check_platform

__all__ = ["PLATFORM_JUDGES", "NotApplicable", "check_platform"]
