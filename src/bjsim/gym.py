"""The environments for reinforcement learning, under a short name (extra `gym`).

Importing it registers the environments of the presets with Gymnasium.
"""

from bjsim.strategies.learning.gym_env import BlackjackEnv as BlackjackEnv
from bjsim.strategies.learning.gym_env import env_id as env_id
from bjsim.strategies.learning.observations import JudgedPolicy as JudgedPolicy
from bjsim.strategies.learning.observations import PolicyPlayer as PolicyPlayer
from bjsim.strategies.learning.observations import judge_policy as judge_policy
from bjsim.strategies.learning.observations import parse_answer as parse_answer
from bjsim.strategies.learning.observations import write_prompt as write_prompt
from bjsim.strategies.learning.vector_env import BlackjackVectorEnv as BlackjackVectorEnv
