"""The environments for reinforcement learning, under a short name (extra `gym`).

Importing it registers an environment for every preset with Gymnasium. The table of several seats is loaded when it is
first used, and needs the extra `rl`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from bjsim.strategies.learning.gym_env import BlackjackEnv as BlackjackEnv
from bjsim.strategies.learning.gym_env import env_id as env_id
from bjsim.strategies.learning.judge import JudgedPolicy as JudgedPolicy
from bjsim.strategies.learning.judge import judge_policy as judge_policy
from bjsim.strategies.learning.policy_player import PolicyPlayer as PolicyPlayer
from bjsim.strategies.learning.prompts import parse_answer as parse_answer
from bjsim.strategies.learning.prompts import write_prompt as write_prompt
from bjsim.strategies.learning.vector_env import BlackjackVectorEnv as BlackjackVectorEnv

if TYPE_CHECKING:
    from bjsim.strategies.learning.table_env import BlackjackTable as BlackjackTable
    from bjsim.strategies.learning.table_env import table_env as table_env


def __getattr__(name: str) -> object:
    if name not in ("BlackjackTable", "table_env"):
        raise AttributeError(f"module 'bjsim.gym' has no attribute {name!r}")
    try:
        return getattr(import_module("bjsim.strategies.learning.table_env"), name)
    except ImportError as error:
        raise ImportError(f"{name}: {error}; in a checkout: pip install '.[rl]'") from error
