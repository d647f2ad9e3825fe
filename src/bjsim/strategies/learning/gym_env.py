"""A Gymnasium environment for every game.

`import bjsim.gym`, then `gymnasium.make("bjsim/Easy-v0")`, or in one step `gymnasium.make("bjsim.gym:bjsim/Easy-v0")`.
Needs the extra `bjsim[gym]`. The environment plays the readable round of `bjsim.sim.game.round` and adds no rules;
`gymnasium.make_vec` makes the fast one of `vector_env.py`.
"""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from bjsim.sim.game.actions import INSURANCE, Action, View
from bjsim.sim.game.actions import LETTERS as LETTERS
from bjsim.sim.game.events import Event, Peeked, RoundResult, describe
from bjsim.sim.game.presets import PRESETS, RulesLike, load_rules
from bjsim.sim.game.round import Round
from bjsim.sim.game.shoe import Stream, open_shoe
from bjsim.sim.game.support import refusal
from bjsim.strategies.learning.observations import (
    LUCK_ADJUSTED,
    PAYOFF,
    DecisionValues,
    Encoder,
    Mask,
    Observation,
    environment_values,
)

SEAT = "agent"
MAX_SEED = 2**62  # of the shoes


class BlackjackEnv(gymnasium.Env[Observation, np.int64]):  # type: ignore[misc, unused-ignore]
    """One seat at a blackjack table, playing round after round.

    ## Description
    An episode is one round of the game given by `rules`: by default the preset that the environment is named after. The
    other seats of games for several players are empty. The hands of a split are played one after the other, as at a
    table, in the same episode and against the same dealer.

    ## Action Space
    `Discrete(5)`: 0 stand, 1 hit, 2 double, 3 split, 4 surrender; `Discrete(6)` if the rules offer insurance, with
    5 insure. `info["action_mask"]` (int8, one for each action) is 1 for the actions that are legal now. Any other
    stands, and `info["illegal"]` is then true. Insurance is asked for alone, and standing declines it. Raises of the
    stake are not available.

    With `values=True`, `info["values"]` (float64, one for each action) has the exact expected profit of every legal
    action when best play follows, in initial bets, and -inf for the others; `info["advantage"]` has the values less the
    greatest: 0 for the best action, and the regret of any other with a minus sign. The values are those of the hand in
    play, in an infinite shoe, given what the observation shows; after a split the other hands of the round are left
    out, but not the room that a further split takes from them. Those of insurance are of the insurance bet. If ties are
    replayed, a tied bet counts as the value of the game. A finite shoe has the values of an infinite one.

    ## Observation Space
    `MultiDiscrete`, int64, shape (8,), about the hand to decide on:

    | index | meaning | values |
    |---|---|---|
    | 0 | points, an ace counting 11 where that does not bust | 0 to 22 |
    | 1 | whether an ace counts 11 | 0, 1 |
    | 2 | cards; 3 means 3 or more unless the rules count further | 0 to 6, or 7 |
    | 3 | 1 + rank index (ace 0) of a pair that may be split; ten-valued ranks may share an index; else 0 | 0 to 13 |
    | 4 | index of the cards towards 7-7-7 or 8-7-6; 0 for none | depends on the rules |
    | 5 | 0 no split hand, 1 split hand, 2 split ace; 0 again from three cards on; +3 if free, or per double | 0 to 11 |
    | 6 | index into `columns` of the dealer's shown cards; the number of columns for a natural | depends on the rules |
    | 7 | hands of the seat; 0 where insurance is offered | 0 to 9, or the rules' limit |

    `info["view"]` is the same observation as a `bjsim.sim.game.actions.View`, the argument of every Player of bjsim.

    ## Starting State
    Two cards, dealt from the shoe. If the round ends without a decision (naturals), the only legal action is to stand,
    which pays the round. A finite shoe is kept between episodes and shuffled at its cut; `reset(seed=...)` opens a new
    one.

    ## Rewards
    Profit in initial bets, 0 until the round is paid. Where ties are replayed, a tied stake is replayed within the
    episode, so the mean return of an episode is the value of the game per settled bet.

    With `reward="luck-adjusted"` the luck of all cards is taken from the profit. The reward of a step is the advantage
    of the action, times the stake of a replayed tie; the last step of an episode adds the value of the game. The return
    of any policy then has the same mean as its profit, and depends on its decisions alone: the best policy earns the
    value of the game in every episode. This needs `decks=inf`: in a finite shoe these values would be biased.

    ## Episode End
    Terminated when all bets are settled; never truncated.

    ## Arguments
    `rules`: a `Rules`, the name of a preset, or a TOML file; `gymnasium.make("bjsim/Easy-v0", rules="vegas-s17")`.
    `render_mode="ansi"`: `render()` returns the events of the round so far as text.
    `values`: whether `info` has the values of the actions. `reward`: "payoff" or "luck-adjusted".

    ## Version History
    * v0: initial version.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 (gymnasium declares it so)

    def __init__(
        self,
        rules: RulesLike = "easy",
        render_mode: str | None = None,
        values: bool = False,
        reward: str = PAYOFF,
    ) -> None:
        self.rules = load_rules(rules)
        self.render_mode = render_mode
        self._encoder = Encoder(self.rules)
        self.states, self.columns = self._encoder.states, self._encoder.columns
        self._letters = self._encoder.letters
        self._in_progress = False
        self._gives_values, self._adjusts = values, reward == LUCK_ADJUSTED
        self._values = environment_values(self.rules, values, reward)
        self.observation_space, self.action_space = self._encoder.spaces()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a round, from a new shoe if there is a `seed`; info has `action_mask` and `view`."""
        super().reset(seed=seed)
        if seed is not None or not hasattr(self, "_shoe"):
            self._shoe = open_shoe(self.rules, Stream(int(self.np_random.integers(MAX_SEED))))
        self._stake = 1
        self._past: list[Event] = []
        self._deal()
        self._in_progress = True
        self._look()
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play action 0 to 4, or 5 to insure; rewards are in initial bets, and no episode is truncated."""
        if not self._in_progress:
            raise gymnasium.error.ResetNeeded("no round is in progress; call reset() first")
        if action not in range(len(self._letters)):
            raise gymnasium.error.InvalidAction(f"unknown action {action}; actions are 0 to {len(self._letters) - 1}")
        letter = self._letters[int(action)]
        legal, adjusted = self._view.legal, 0.0
        if self._adjusts:
            adjusted = self._stake * float(self._advantage[self._letters.index(letter if letter in legal else "S")])
        if self._result is None:
            self._advance(Action(letter if letter in legal else "S"))
        reward = 0.0
        while self._result is not None:
            reward += self._stake * float(self._result.net[0])
            self._stake *= int(self._result.tied[0])
            if not self._stake:
                break
            self._past += self._round.events
            self._deal()
        ended = self._result is not None
        self._in_progress = not ended
        if self._adjusts:
            assert self._values is not None
            reward = adjusted + ended * self._values.start
        self._look()
        return self._observation(), reward, ended, False, self._info() | {"illegal": letter not in legal}

    def action_masks(self) -> Mask:
        """The mask of legal actions, under the name that stable-baselines3's MaskablePPO asks for."""
        return self._encoder.mask(self._view.legal)

    def render(self) -> str | None:
        """The events of the episode so far, one on each line; None unless `render_mode` is "ansi"."""
        if self.render_mode != "ansi":
            return None
        return "\n".join(describe(event, [SEAT]) for event in [*self._past, *self._round.events])

    def _deal(self) -> None:
        self._round = Round(self.rules, self._shoe, 1)
        self._steps = self._round.steps()
        self._result: RoundResult | None = None
        self._advance(None)

    def _advance(self, action: Action | None) -> None:
        """Answer the question, and play on to the next or to the end of the round."""
        try:
            self._asked: View | None = self._steps.send(action).view  # type: ignore[arg-type]  # None starts it
        except StopIteration as end:
            self._asked, self._result = None, end.value

    def _look(self) -> None:
        if self._asked:
            self._view = self._asked
        else:  # a round without decisions still needs a step, which pays it
            [seat] = self._round.seats
            legal = "S" if self._in_progress else ""
            self._view = self._round.view(seat, seat.hands[-1])._replace(legal=legal)

    def _observation(self) -> Observation:
        return self._encoder.observation(self._view)

    def _info(self) -> dict[str, Any]:
        mask = self.action_masks()
        info = {"action_mask": mask, "view": self._view}
        if self._values is None:
            return info
        values, self._advantage = self._look_up(self._values, mask)
        return info | ({"values": values, "advantage": self._advantage} if self._gives_values else {})

    def _look_up(self, values: DecisionValues, mask: Mask) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        view = self._view
        column = int(self._encoder.observation(view)[-2])
        if view.legal == INSURANCE:
            column = values.insurance
        elif self._result is not None and Peeked(natural=True) in self._round.events:  # before anyone could act
            column = values.peeked
        return values.look_up_view(view, column, mask)


def env_id(preset: str) -> str:
    """The id of a preset's environment: `bjsim/VegasS17-v0` for `vegas-s17`."""
    return f"bjsim/{''.join(word.capitalize() for word in preset.split('-'))}-v0"


def register_envs() -> None:
    for name, preset in PRESETS.items():
        if env_id(name) not in gymnasium.registry and not refusal(preset.rules, "environment"):
            gymnasium.register(
                id=env_id(name),
                entry_point=f"{__name__}:BlackjackEnv",
                vector_entry_point="bjsim.strategies.learning.vector_env:BlackjackVectorEnv",
                kwargs={"rules": name},
            )


register_envs()
