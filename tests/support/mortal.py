"""A job that kills its worker, in a module that all kinds of workers can import."""

import os
import signal
from pathlib import Path


def die(job: int, folder: str) -> int:
    """Die of every file in the folder that is called after the job; else the square of the job."""
    for file in Path(folder).glob(f"{job}-*"):
        file.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return job * job
