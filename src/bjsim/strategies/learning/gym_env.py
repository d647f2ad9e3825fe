"""A Gymnasium environment for every game.

`import bjsim.strategies.learning.gym_env`, then `gymnasium.make("bjsim/Easy-v0")`, or in one step
`gymnasium.make("bjsim.strategies.learning.gym_env:bjsim/Easy-v0")`. Needs the extra `bjsim[gym]`.

The environment plays the readable round of `bjsim.sim.game.round` and adds no rules. A round calls its players, but an
environment is called. At every step the round is therefore replayed from the cards drawn and the actions taken so far,
up to the first open decision. This needs neither threads nor a change to the round.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from bjsim.errors import RunFailed
from bjsim.sim.game.actions import INSURANCE, LETTERS, Action, View
from bjsim.sim.game.cards import parse_rank
from bjsim.sim.game.events import Event, describe
from bjsim.sim.game.hand_states import SPLIT_ACES, SPLIT_HAND, WHOLE, HandState
from bjsim.sim.game.presets import PRESETS, load_rules
from bjsim.sim.game.random_stream import Stream
from bjsim.sim.game.round import Round, RoundResult
from bjsim.sim.game.rules import Rules
from bjsim.sim.game.shoe import Shoe, open_shoe
from bjsim.sim.game.states import States

MAX_HANDS = 9  # greatest number of hands in an observation, unless the rules set a smaller limit

Observation = NDArray[np.int64]


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

    ## Observation Space
    `MultiDiscrete`, int64, shape (8,), about the hand to decide on:

    | index | meaning | values |
    |---|---|---|
    | 0 | points, an ace counting 11 where that does not bust | 0 to 22 |
    | 1 | whether an ace counts 11 | 0, 1 |
    | 2 | cards; 3 means 3 or more unless the rules count further | 0 to 6, or 7 |
    | 3 | 1 + rank index (ace 0) of a pair that may be split; ten-valued ranks may share an index; else 0 | 0 to 13 |
    | 4 | index of the cards towards 7-7-7 or 8-7-6; 0 for none | depends on the rules |
    | 5 | 0 no split hand, 1 split hand, 2 split ace; 0 again from the third card on | 0 to 2 |
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
        self._in_progress = False
        self._melds = sorted({hand.meld for hand in self.states.reachable()})
        self._most_hands = int(min(self.rules.most_hands, MAX_HANDS))
        cards = max(6, self.states.counted)
        sizes = [23, 2, cards + 1, 14, len(self._melds), 3, len(self.columns) + 1, self._most_hands + 1]
        self._letters = LETTERS + "I" * self.rules.insurance
        self.action_space = spaces.Discrete(len(self._letters))
        self.observation_space = spaces.MultiDiscrete(np.array(sizes, dtype=np.int64))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal a round.

        Args:
            seed: Opens a new shoe with this seed; None keeps the shoe.
            options: Not used.

        Returns:
            The first observation, and info with `action_mask` and `view`.
        """
        super().reset(seed=seed)
        if seed is not None or not hasattr(self, "_shoe"):
            self._shoe = _RewindableShoe(open_shoe(self.rules, Stream(int(self.np_random.integers(2**62)))))
        self._stake = 1
        self._past: list[Event] = []
        self._deal()
        self._in_progress = True
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an action.

        Args:
            action: The number of the action, 0 to 4, or 5 to insure.

        Returns:
            Observation, reward in initial bets, terminated, truncated (always false), info.

        Raises:
            gymnasium.error.InvalidAction: There is no action with this number.
            gymnasium.error.ResetNeeded: No round is in progress.
        """
        if not self._in_progress:
            raise gymnasium.error.ResetNeeded("no round is in progress; call reset() first")
        if action not in range(len(self._letters)):
            raise gymnasium.error.InvalidAction(f"unknown action {action}; actions are 0 to {len(self._letters) - 1}")
        letter = self._letters[int(action)]
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
        self._in_progress = not ended
        return self._observation(), reward, ended, False, self._info() | {"illegal": letter not in legal}

    def render(self) -> str | None:
        """The events of the episode so far, one on each line; None unless `render_mode` is "ansi"."""
        if self.render_mode != "ansi":
            return None
        return "\n".join(describe(event, [_Seat.name]) for event in [*self._past, *self._round.events])

    # --- the round

    def _deal(self) -> None:
        self._shoe.forget()
        self._seat = _Seat()
        self._play()

    def _play(self) -> None:
        """Replay the round from its first card, up to the next decision or to its end."""
        self._shoe.rewind()
        self._seat.asked = 0
        self._round = Round(self.rules, self._shoe, [self._seat])
        self._result: RoundResult | None = None
        try:
            self._result = self._round.play()
            # A round without decisions still needs a step, which pays it.
            self._view = self._last_view("" if self._seat.answers else "S")
        except _Undecided as decision:
            self._view = decision.view

    def _last_view(self, legal: str) -> View:
        """The view of the last hand when the round is over."""
        seat, dealer = self._round.seats[0], self._round.dealer
        hand = seat.hands[-1]
        shown = dealer.letters[: 2 if self.rules.dealer_shows == "both" else 1]
        return View(
            self.rules, 0, hand.letters, shown, shown, hand.stake, seat.chips, legal, hand.split_from >= 0,
            len(seat.hands),
        )  # fmt: skip

    # --- observations

    def _observation(self) -> Observation:
        view = self._view
        ranks = [parse_rank(card) for card in view.hand]
        state = HandState(split=WHOLE if not view.split else SPLIT_HAND if ranks[0] else SPLIT_ACES)
        for rank in ranks:
            state = self.states.add(state, rank)
        column = self.states.column(view.dealer)
        shown = self.columns.index(column) if column in self.columns else len(self.columns)
        pair = state.rank + 1 if state.cards == 2 else 0
        meld, hands = self._melds.index(state.meld), min(view.hands, self._most_hands)
        if view.legal == INSURANCE:
            hands = 0
        features = (state.points, state.soft, state.cards, pair, meld, state.split, shown, hands)
        return np.array(features, dtype=np.int64)

    def _info(self) -> dict[str, Any]:
        mask = np.array([letter in self._view.legal for letter in self._letters], dtype=np.int8)
        return {"action_mask": mask, "view": self._view}


class _Undecided(RunFailed):
    """Play has reached an open decision. A subclass of RunFailed, which a round does not catch."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view


class _Seat:
    """A Player that replays its recorded actions, and interrupts the round at the next decision."""

    name = "agent"

    def __init__(self) -> None:
        self.answers: list[Action] = []
        self.asked = 0

    def decide(self, view: View) -> Action:
        self.asked += 1
        if self.asked > len(self.answers):
            raise _Undecided(view)
        return self.answers[self.asked - 1]


class _RewindableShoe:
    """A shoe that can replay the cards of the current round."""

    def __init__(self, shoe: Shoe) -> None:
        self.shoe = shoe
        self.cards: list[int] = []
        self.dealt = 0
        self.begun = False

    def forget(self) -> None:
        """Drop the recorded cards, before a new round."""
        self.cards, self.begun = [], False

    def rewind(self) -> None:
        """Return to the first card of the round."""
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
    """The id of a preset's environment: `bjsim/VegasS17-v0` for `vegas-s17`."""
    return f"bjsim/{''.join(word.capitalize() for word in preset.split('-'))}-v0"


def register_envs() -> None:
    """Register an environment for every preset with Gymnasium."""
    for name in PRESETS:
        if env_id(name) not in gymnasium.registry:
            gymnasium.register(id=env_id(name), entry_point=f"{__name__}:BlackjackEnv", kwargs={"rules": name})


register_envs()
