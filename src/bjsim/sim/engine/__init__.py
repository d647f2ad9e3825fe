"""The engine: compiled rules, and the compiled code that plays them."""

from pathlib import Path

from bjsim.errors import InputError

NUMBA_CONFIG = ".numba_config.yaml"

if Path(NUMBA_CONFIG).exists():  # before any module of this package imports numba
    raise InputError(
        f"the current folder has a {NUMBA_CONFIG}, which tells numba where to load compiled code; run bjsim in "
        "another folder, and set what you need of it as environment variables"
    )
