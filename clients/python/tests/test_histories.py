"""Which answers the client takes, by the table that the clients of all languages share; and which fork they are of."""

import json
from pathlib import Path

import pytest

from evershard import ForkChangedError
from evershard._errors import EvershardError, ProtocolError
from evershard._history import FORK, LED, LED_OF, History, OtherHistoryError

TABLE = json.loads((Path(__file__).parents[3] / "tests" / "clients" / "histories.json").read_text())


def spelled(led: str) -> str:
    for letter, identity in TABLE["identities"].items():
        led = led.replace(f":{letter}", f":{identity}")
    return led


def what_becomes(history: History, led: str) -> str:
    try:
        history.hear_led(spelled(led))
    except OtherHistoryError as refused:
        return "other" if "two histories" in refused.message else "older"
    except ProtocolError:
        return "malformed"
    return "taken"


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: case["of"])
def test_answers_are_taken_as_the_table_says(case):
    history = History(several=True)
    for led, expected in case["answers"]:
        assert what_becomes(history, led) == expected, led


def test_requests_say_what_was_heard():
    history = History(several=True)
    assert history.metadata == ()
    history.hear([(FORK, "one"), (LED, spelled("2:x"))])
    history.hear_led(spelled("3:y"))
    assert history.metadata == ((FORK, "one"), (LED, spelled("2:x,3:y")))


def test_at_several_addresses_the_fork_stays_the_first():
    history = History(several=True)
    history.hear([(FORK, "one")])
    with pytest.raises(ForkChangedError, match="fork two now, and fork one"):
        history.hear([(FORK, "two")])
    assert history.fork == "one"


def test_at_one_address_the_fork_is_the_last():
    history = History(several=False)
    history.hear([(FORK, "one")])
    history.hear([(FORK, "two")])
    assert history.fork == "two"
    assert history.metadata == ()


def test_a_door_of_another_fork_that_others_name_says_nothing():
    history = History(several=False)
    history.hear([(FORK, "one"), (LED, spelled("3:x"))])
    history.hear_met([(FORK, "copy"), (LED, spelled("3:y"))], given=False)
    assert history.metadata == ((LED, spelled("3:x")), (LED_OF, "one"))
    assert history.fork == "one"
    history.hear_met([(FORK, "one"), (LED, spelled("4:y"))], given=False)
    assert history.metadata == ((LED, spelled("3:x,4:y")), (LED_OF, "one"))
    history.hear_met([(FORK, "copy"), (LED, spelled("3:y"))], given=True)
    assert history.metadata == ((LED, spelled("3:y")), (LED_OF, "copy"))


def test_at_one_address_who_led_another_fork_says_nothing_of_this_one():
    history = History(several=False)
    history.hear([(FORK, "one"), (LED, spelled("3:x"))])
    assert history.metadata == ((LED, spelled("3:x")), (LED_OF, "one"))
    history.hear([(FORK, "two"), (LED, spelled("2:y"))])
    assert history.metadata == ((LED, spelled("2:y")), (LED_OF, "two"))


def test_what_is_not_taken_is_tried_elsewhere():
    from evershard._retry import worth_retrying

    history = History(several=True)
    history.hear_led(spelled("2:x"))
    with pytest.raises(EvershardError) as refused:
        history.hear_led(spelled("2:y"))
    assert worth_retrying(refused.value)
