"""Every file in the folder of platforms, held against the shipped conformance suite."""

import pytest

from modeldyno.platforms import PLATFORMS
from modeldyno.testing import PLATFORM_JUDGES, NotApplicable


@pytest.mark.parametrize("judge", PLATFORM_JUDGES, ids=lambda judge: judge.__name__)
@pytest.mark.parametrize("name", PLATFORMS.names())
def test_platform(name, judge):
    try:
        judge(PLATFORMS.get(name))
    except NotApplicable as why:
        pytest.skip(str(why))


@pytest.mark.parametrize("name", PLATFORMS.names())
def test_platform_is_called_as_its_file(name):
    assert PLATFORMS.get(name).name == name
