"""Types of arrays, as annotations name them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Acts = NDArray[np.int8]  # codes of actions
Bools = NDArray[np.bool_]
