"""A PettingZoo table of several seats for every game (extra `rl`): `table_env("vegas-s17", seats=3)`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import AECEnv

from bjsim.errors import InputError
from bjsim.sim.game.actions import View
from bjsim.sim.game.cards import RANKS
from bjsim.sim.game.events import Event, describe
from bjsim.sim.game.presets import load_rules
from bjsim.sim.game.random_stream import Stream
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import Shoe, open_shoe
from bjsim.strategies.learning.encoder import Encoder
from bjsim.strategies.learning.gym_env import MAX_SEED
from bjsim.strategies.learning.open_round import OpenRound

MOST_SEATS = 7
MOST_OPEN = 255  # greatest number of open cards of a rank in an observation


class BlackjackTable(AECEnv[str, dict[str, Any], int]):  # type: ignore[misc, unused-ignore]
    """A table of several seats, which play one round after the other against the same dealer, from one shoe.

    The agents are seat_0, seat_1 and so on, in the order of the deal, and act in the order of the rules. An
    observation is a dict: `observation` has the eight integers of `BlackjackEnv`, and then the number of open
    cards of each rank on the table, aces first; `action_mask` is 1 for the legal actions, zeros for a seat that
    does not act now. Any other action stands. A seat without a decision gets no turn; if no seat has one, the
    first must stand, which pays the round.

    Rewards are profits in initial bets, 0 until the round is paid, and all seats terminate together. Where ties
    are replayed, the seats with a tied stake play another round for it within the episode. The shoe is kept
    between episodes; `reset(seed=...)` opens a new one. `seats` is by default that of the rules; with the render
    mode "ansi", `render()` returns the events of the episode as text.
    """

    metadata = {"name": "bjsim_v0", "render_modes": ["ansi"], "is_parallelizable": False}  # noqa: RUF012

    def __init__(self, rules: Rules | str = "easy", seats: int | None = None, render_mode: str | None = None) -> None:
        super().__init__()
        self.rules = load_rules(rules) if isinstance(rules, str) else rules
        number = self.rules.seats if seats is None else seats
        if not 1 <= number <= MOST_SEATS:
            raise InputError(f"seats = {number}; accepted are 1 to {MOST_SEATS}")
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{i}" for i in range(number)]
        self._encoder = Encoder(self.rules)
        sizes = np.concatenate([self._encoder.sizes, np.full(len(RANKS), MOST_OPEN + 1)])
        self._action_space = spaces.Discrete(len(self._encoder.letters))
        self._observation_space = spaces.Dict(
            observation=spaces.MultiDiscrete(sizes), action_mask=spaces.MultiBinary(len(self._encoder.letters))
        )
        self._shoe: Shoe | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The observation space, the same for all agents."""
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The action space, the same for all agents."""
        return self._action_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a round; a seed opens a new shoe."""
        if seed is not None or self._shoe is None:
            cards = int(seeding.np_random(seed)[0].integers(MAX_SEED))
            self._shoe = open_shoe(self.rules, Stream(cards))
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._stakes = dict.fromkeys(self.agents, 1)
        self._past: list[Event] = []
        self._deal()
        self._select()

    def _deal(self) -> None:
        assert self._shoe is not None
        self._playing = [agent for agent in self.possible_agents if self._stakes[agent]]
        self._round = OpenRound(self.rules, self._shoe, len(self._playing))

    def _select(self) -> None:
        view = self._round.view
        self.agent_selection = self._playing[view.seat if view else 0]

    def step(self, action: int | None) -> None:
        """Play an action of the seat that must act; None for one that has terminated."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        if not self.action_space(agent).contains(action):
            raise InputError(f"unknown action {action}; actions are 0 to {len(self._encoder.letters) - 1}")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if self._round.view is not None:
            letter = self._encoder.letters[int(action)]  # type: ignore[arg-type]
            self._round.answer(letter if letter in self._round.view.legal else "S")
        while self._round.result is not None:
            self._pay()
            if not any(self._stakes.values()):
                self.terminations = dict.fromkeys(self.agents, True)
                self.agent_selection = self.agents[0]
                break
            self._past += self._round.round.events
            self._deal()
        if not self.terminations[agent]:
            self._select()
        self._accumulate_rewards()

    def _pay(self) -> None:
        assert self._round.result is not None
        for agent, net, tied in zip(self._playing, self._round.result.net, self._round.result.tied, strict=True):
            self.rewards[agent] += self._stakes[agent] * float(net)
            self._stakes[agent] *= int(tied)

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """Return a dict with `observation`, int64 (21,), and `action_mask`, int8 (actions,)."""
        view, over = self._round.view, self.terminations.get(agent, True)
        acts = agent == self.agent_selection and not over
        if agent not in self._playing:
            seen = np.zeros(len(self._encoder.sizes), np.int64)  # its bet is settled
        elif view is not None and acts:
            seen = self._encoder.observation(view)
        else:
            shown: View = self._round.last_view(self._playing.index(agent), "")
            seen = self._encoder.observation(shown)
        legal = "" if not acts else view.legal if view else "S"
        cards = view.visible if view else self._round.round.dealer.letters + self._round.round.open_cards
        counts = [min(cards.count(rank), MOST_OPEN) for rank in RANKS]
        return {
            "observation": np.concatenate([seen, np.array(counts, np.int64)]),
            "action_mask": self._encoder.mask(legal),
        }

    def render(self) -> str | None:
        """The events of the episode so far, one on each line; None unless `render_mode` is "ansi"."""
        if self.render_mode != "ansi":
            return None
        return "\n".join(describe(event, self._playing) for event in [*self._past, *self._round.round.events])

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def table_env(rules: Rules | str = "easy", seats: int | None = None, render_mode: str | None = None) -> BlackjackTable:
    return BlackjackTable(rules, seats, render_mode)
