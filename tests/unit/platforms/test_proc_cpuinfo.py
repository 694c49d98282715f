from hypothesis import given
from hypothesis import strategies as st

from modeldyno.platforms import _proc_cpuinfo
from modeldyno.platforms._proc_cpuinfo import parse

X86 = """processor\t: 0
model name\t: Intel(R)  Xeon(R) Processor
cpu MHz\t\t: 2100.000
flags\t\t: fpu hypervisor avx2 amx_int8 avx512f amx_bf16

processor\t: 1
cpu MHz\t\t: 2300.000
"""
ARM = """processor\t: 0
Features\t: fp asimd i8mm bf16 sve
CPU implementer\t: 0x41
CPU part\t: 0xd40
"""


def test_x86():
    info = parse(X86)
    assert info.name == "Intel(R) Xeon(R) Processor"
    assert info.instruction_sets == ("avx2", "avx512f", "amx_bf16", "amx_int8")
    assert info.mhz == 2200
    assert info.virtualised is True


def test_arm_prints_numbers_instead_of_a_name():
    info = parse(ARM)
    assert info.name == "Arm Neoverse V1"
    assert info.instruction_sets == ("neon", "i8mm", "bf16", "sve")
    assert info.virtualised is None
    assert parse(ARM.replace("0xd40", "0xfff")).name == "ARM implementer 0x41 part 0xfff"


@given(st.text())
def test_any_text_is_read_without_an_error(text):
    info = parse(text)
    assert info.mhz is None or info.mhz > 0


@given(
    st.sets(st.sampled_from([*_proc_cpuinfo._SETS, "fpu", "vme"])),
    st.lists(st.floats(400, 6000), min_size=1, max_size=8),
)
def test_what_is_written_is_read(flags, clocks):
    cores = [f"model name\t: A CPU\ncpu MHz\t: {mhz:.3f}\nflags\t: {' '.join(flags)}" for mhz in clocks]
    info = parse("\n\n".join(cores) + "\n\n")
    assert info.name == "A CPU"
    assert set(info.instruction_sets) == flags & set(_proc_cpuinfo._SETS)
    assert info.mhz is not None
    assert min(clocks) - 0.1 <= info.mhz <= max(clocks) + 0.1


@given(st.permutations(list(_proc_cpuinfo._SETS)))
def test_the_order_of_flags_does_not_change_the_fingerprint(flags):
    assert _proc_cpuinfo.instruction_sets(set(flags)) == _proc_cpuinfo._SETS
