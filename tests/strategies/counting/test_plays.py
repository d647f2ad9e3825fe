"""Index plays as people write them: the same plays as lines, lists and tables."""

from __future__ import annotations

import pytest

from bjsim.errors import InputError
from bjsim.strategies.formats.plays import parse_plays

TEN = "insurance I>=3, 16vT S>=0, 15vT S>=4, TTv5 P>=5, TTv6 P>=4, 12v3 S>=2, 11vA D>=1, A8v6 D>=1, 13v2 H<-1, 12v4 H<0"
WRITTEN = {
    "lines": TEN.replace(", ", "\n"),
    "words": """Insurance at +3 or more
        16 vs 10: stand at 0 or above
        15 against a ten stand >= 4
        10,10 vs 5 split +5
        pair of tens v 6, split if the true count is 4 or higher
        hard 12 vs 3 stand 2+
        11 v Ace double +1
        A,8 vs 6 double at +1
        13 vs 2 hit below -1
        12 vs 4 hit < 0""",
    "a table": """| play | index | basic | at or above the index |
        |---|---|---|---|
        | Insurance | +3 | no | yes |
        | 16 vs 10 | 0 | hit | stand |
        | 15 vs 10 | +4 | hit | stand |
        | 10,10 vs 5 | +5 | stand | split |
        | 10,10 vs 6 | +4 | stand | split |
        | 12 vs 3 | +2 | hit | stand |
        | 11 vs A | +1 | hit | double |
        | A,8 vs 6 | +1 | stand | double |

        | play | index | below the index |
        |---|---|---|
        | 13 vs 2 | -1 | hit |
        | 12 vs 4 | 0 | hit |""",
    "columns": """Player\tDealer\tTrue count\tMove
        insurance\tA\t3\tyes
        16\t10\t0\tStand
        15\tT\t4\tStand
        10,10\t5\t5\tSplit
        T,T\t6\t4\tSplit
        12\t3\t2\tStand
        11\tAce\t1\tDouble
        soft 19\t6\t1\tDouble
        13\t2\t<-1\tHit
        12\t4\t<0\tHit""",
}


def plays(text: str) -> list[str]:
    return [str(play) for play in parse_plays(text)[0]]


@pytest.mark.parametrize("form", WRITTEN)
def test_every_form_says_the_same_plays(form: str) -> None:
    assert plays(WRITTEN[form]) == TEN.split(", ")
    assert parse_plays(WRITTEN[form])[1] == ()


@pytest.mark.parametrize(
    ("text", "said", "note"),
    [
        ("16vT 0", "16vT S>=0", "16vT 0 is read as S>=0"),
        ("10,10 vs 5 +5", "TTv5 P>=5", "TTv5 +5 is read as P>=5"),
        ("A,7 v 2 1", "A7v2 D>=1", "A7v2 1 is read as D>=1"),
        ("Fab 4 surrenders\n14 vs 10 +3", "14vT R>=3", "14vT +3 is read as R>=3"),
    ],
)
def test_a_count_alone_is_for_the_action_that_is_usual(text: str, said: str, note: str) -> None:
    assert plays(text) == [said] and parse_plays(text)[1][-1] == note


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("16vT hit 3", "line 1: '16vT hit 3': write H<3, or the action that is taken at 3 or more"),
        ("16vT S H 3", "has more than one action"),
        ("16vT S > 0 < 3", "needs one count"),
        ("16vT S>=1/0", "the count must be from -1000 to 1000"),
        ("insurance banana 3", "write insurance I>=3"),
        ("nothing here 5", "none is found in 'nothing here 5'; write such as 16vT S>=0"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        parse_plays(text)
    assert message in str(error.value) and "\n" not in str(error.value)
