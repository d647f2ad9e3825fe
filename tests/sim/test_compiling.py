"""The compile notice comes once, before numba compiles, and only if it compiles."""

import numba

from bjsim.sim.engine.compile_notice import on_compile


def test_it_is_said_once_and_only_when_something_is_compiled():
    one, other = numba.njit(lambda x: x + 1), numba.njit(lambda x: x + 2)
    said = []
    with on_compile(lambda: said.append(not one.signatures)):
        assert one(1) == 2 and other(1) == 3
    assert said == [True]  # and before it was compiled
    with on_compile(lambda: said.append("again")):
        assert one(1) == 2 and other(1) == 3
    other(1.5)
    assert said == [True]
