"""A Gymnasium environment for every game.

`import bjsim.strategies.learning.gym_env`, then `gymnasium.make("bjsim/Easy-v0")`.

In one: `gymnasium.make("bjsim.strategies.learning.gym_env:bjsim/Easy-v0")`. Needs the extra `bjsim[gym]`.

The environment plays the readable round of `bjsim.sim.game.round`, and has no rules of its own. A round asks its
players; an environment is asked. So at every step the round is dealt again from the cards that were drawn and the actions that were
taken, up to the first decision that has none yet: no threads, and no change to the round.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from bjsim.errors import RunFailed
from bjsim.sim.game.actions import Action, View
from bjsim.sim.game.cards import rank_of
from bjsim.sim.game.presets import PRESETS, load_rules
from bjsim.sim.game.random_stream import Stream
from bjsim.sim.game.round import Event, Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import Shoe, open_shoe
from bjsim.sim.game.states import SPLIT_ACES, SPLIT_HAND, WHOLE, HandState, States

LETTERS = "SHDPR"  # the actions, by their number; raises are left out
MOST_HANDS = 9  # hands of a seat that the observation counts, where the rules set no smaller limit

Observation = NDArray[np.int64]


class BlackjackEnv(gymnasium.Env[Observation, np.int64]):  # type: ignore[misc, unused-ignore]
    """One seat at a blackjack table, playing round after round.

    ## Description
    The player plays one round of the game given by `rules`: the preset that the environment is named after, or any
    other. The other seats of games for several are empty. Hands after a split are played one after the other, as
    at a table, in the same episode, against the same dealer.

    ## Action Space
    `Discrete(5)`: 0 stand, 1 hit, 2 double, 3 split, 4 surrender. `info["action_mask"]` (int8, shape (5,)) is 1 for the
    actions that are allowed now. Any other of the five stands, and `info["illegal"]` is then true. Raises of the stake
    are not offered.

    ## Observation Space
    `MultiDiscrete`, int64, shape (8,), about the hand to decide on:

    | index | what | values |
    |---|---|---|
    | 0 | points, an ace counting 11 where that does not bust | 0 to 22 |
    | 1 | whether an ace counts 11 | 0, 1 |
    | 2 | cards; where the rules count no further, 3 stands for more | 0 to 6 |
    | 3 | 1 + rank index (ace 0) of a pair that may be split, where all ten-valued ranks may be one; else 0 | 0 to 13 |
    | 4 | cards towards 7-7-7 or 8-7-6, as an index; 0 for none | as many as the rules have |
    | 5 | 0 no split hand, 1 split hand, 2 split ace; 0 again from the third card on | 0 to 2 |
    | 6 | what the dealer shows, as an index into `columns`; one more for two cards that are a natural | as many |
    | 7 | hands that the seat holds | 0 to 9, or the rules' limit |

    `info["view"]` holds the same as a `bjsim.sim.game.actions.View`, which every Player of bjsim can decide on.

    ## Starting State
    Two cards, dealt from the shoe. Where the round is over without a decision (naturals), only standing is allowed, and
    it pays. Without replacement the shoe goes on from episode to episode and is shuffled at its cut; `reset(seed=...)`
    opens a new one.

    ## Rewards
    Profit in initial bets, 0 until the round is paid. Where ties are replayed, a tied stake is dealt again within the
    episode, so the mean return of an episode is the value of the game per settled bet.

    ## Episode End
    Terminated when all bets are settled; never truncated.

    ## Arguments
    `rules`: a `Rules`, the name of a preset, or a TOML file; `gymnasium.make("bjsim/Easy-v0", rules="vegas-s17")`.
    `render_mode="ansi"`: `render()` returns the events of the round so far as text.

    ## Version History
    * v0: initial version.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 (gymnasium declares it so)

    def __init__(self, rules: Rules | str = "easy", render_mode: str | None = None) -> None:
        self.rules = load_rules(rules) if isinstance(rules, str) else rules
        self.states = States(self.rules)
        self.columns = self.states.columns
        self.render_mode = render_mode
        self._going_on = False
        self._melds = sorted({hand.meld for hand in self.states.reachable()})
        self._most_hands = int(min(self.rules.max_hands, MOST_HANDS))
        sizes = [23, 2, 7, 14, len(self._melds), 3, len(self.columns) + 1, self._most_hands + 1]
        self.action_space = spaces.Discrete(len(LETTERS))
        self.observation_space = spaces.MultiDiscrete(np.array(sizes, dtype=np.int64))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a round. Returns: the first observation, and info with `action_mask` and `view`."""
        super().reset(seed=seed)
        if seed is not None or not hasattr(self, "_shoe"):
            self._shoe = _Rewound(open_shoe(self.rules, Stream(int(self.np_random.integers(2**62)))))
        self._stake = 1
        self._past: list[Event] = []
        self._deal()
        self._going_on = True
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an action. Returns: observation, reward in initial bets, terminated, truncated (never), info.

        Raises: gymnasium.error.InvalidAction for no number of an action; ResetNeeded where no round is going on.
        """
        if not self._going_on:
            raise gymnasium.error.ResetNeeded("no round is going on; call reset() first")
        if action not in range(len(LETTERS)):
            raise gymnasium.error.InvalidAction(f"action {action} is none; actions are 0 to {len(LETTERS) - 1}")
        letter = LETTERS[int(action)]
        legal = self._view.legal
        if self._result is None:
            self._seat.answers.append(Action(letter if letter in legal else "S"))
            self._play()
        reward = 0.0
        while self._result is not None:
            reward += self._stake * float(self._result.net[0])
            self._stake *= int(self._result.tied[0])
            if not self._stake:
                break
            self._past += self._round.events
            self._deal()
        ended = self._result is not None
        self._going_on = not ended
        return self._observation(), reward, ended, False, self._info() | {"illegal": letter not in legal}

    def render(self) -> str | None:
        """The events of the episode so far, one a line."""
        if self.render_mode != "ansi":
            return None
        return "\n".join(" ".join(map(str, event)) for event in [*self._past, *self._round.events])

    # --- the round

    def _deal(self) -> None:
        self._shoe.forget()
        self._seat = _Seat()
        self._play()

    def _play(self) -> None:
        """The round once more from its first card, up to the next decision or to its end."""
        self._shoe.rewind()
        self._seat.asked = 0
        self._round = Round(self.rules, self._shoe, [self._seat])
        self._result: RoundResult | None = None
        try:
            self._result = self._round.play()
            # A round that nobody decided still needs a step to pay it.
            self._view = self._last_view("" if self._seat.answers else "S")
        except _Undecided as decision:
            self._view = decision.view

    def _last_view(self, legal: str) -> View:
        """What the seat sees of its last hand when the round is over."""
        seat, dealer = self._round.seats[0], self._round.dealer
        hand = seat.hands[-1]
        shown = dealer.letters[: 2 if self.rules.dealer_shows == "both" else 1]
        return View(
            self.rules, 0, hand.letters, shown, shown, hand.stake, seat.chips, legal, hand.split_from >= 0,
            len(seat.hands),
        )  # fmt: skip

    # --- what is seen

    def _observation(self) -> Observation:
        view = self._view
        ranks = [rank_of(card) for card in view.hand]
        state = HandState(split=WHOLE if not view.split else SPLIT_HAND if ranks[0] else SPLIT_ACES)
        for rank in ranks:
            state = self.states.add(state, rank)
        column = self.states.column(view.dealer)
        shown = self.columns.index(column) if column in self.columns else len(self.columns)
        pair = state.rank + 1 if state.cards == 2 else 0
        meld, hands = self._melds.index(state.meld), min(view.hands, self._most_hands)
        features = (state.points, state.soft, state.cards, pair, meld, state.split, shown, hands)
        return np.array(features, dtype=np.int64)

    def _info(self) -> dict[str, Any]:
        mask = np.array([letter in self._view.legal for letter in LETTERS], dtype=np.int8)
        return {"action_mask": mask, "view": self._view}


class _Undecided(RunFailed):
    """Play has come to a decision that is not taken yet. A RunFailed, since a round lets those through as they are."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view


class _Seat:
    """A Player that gives the answers it has, in order, and stops the round for the next one."""

    name = "agent"

    def __init__(self) -> None:
        self.answers: list[Action] = []
        self.asked = 0

    def decide(self, view: View) -> Action:
        self.asked += 1
        if self.asked > len(self.answers):
            raise _Undecided(view)
        return self.answers[self.asked - 1]


class _Rewound:
    """A shoe that can deal the cards of the present round again."""

    def __init__(self, shoe: Shoe) -> None:
        self.shoe = shoe
        self.cards: list[int] = []
        self.dealt = 0
        self.begun = False

    def forget(self) -> None:
        """Go on to another round."""
        self.cards, self.begun = [], False

    def rewind(self) -> None:
        """Deal from the round's first card again."""
        self.dealt = 0

    def begin_round(self) -> bool:
        shuffled = not self.begun and self.shoe.begin_round()
        self.begun = True
        return shuffled

    def draw(self) -> int:
        if self.dealt == len(self.cards):
            self.cards.append(self.shoe.draw())
        self.dealt += 1
        return self.cards[self.dealt - 1]


def env_id(preset: str) -> str:
    """The id of a preset's environment: `vegas-s17` is `bjsim/VegasS17-v0`."""
    return f"bjsim/{''.join(word.capitalize() for word in preset.split('-'))}-v0"


def register_envs() -> None:
    """Make the environments of all presets known to Gymnasium."""
    for name in PRESETS:
        if env_id(name) not in gymnasium.registry:
            gymnasium.register(id=env_id(name), entry_point=f"{__name__}:BlackjackEnv", kwargs={"rules": name})


register_envs()
