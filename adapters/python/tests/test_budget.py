"""What an agent may spend: notes at 80 %, refusals at 100 %, and no word of a loop."""

import pickle

import pytest
from unstuck import Guard, Guards, PolicyError


def step(guard, name):
    """Makes a call like no other before. Returns the decision on its result, or the refusal."""
    before = guard.before("read_file", {"path": name})
    return before if before.blocked else guard.after(before.ticket, name)


def notes(guard, names):
    return [step(guard, name).message for name in names]


def test_calls_are_noted_at_80_percent_and_refused_at_the_limit():
    guard = Guard(budget={"calls": 5, "at_limit": "refuse"})
    said = notes(guard, "abcdefghij")
    assert said[:3] == [None] * 3
    assert said[3] == (
        "[unstuck] 4 of 5 calls of this session are spent. Finish what matters, or say what is missing."
    )
    assert "5 of 5 calls of this session are spent. Further calls are refused" in said[4]
    assert all("This call was not run. 5 of 5 calls" in words for words in said[5:])
    refused = step(guard, "k")
    # A model that insists ends the run. That is no loop.
    assert (refused.action, refused.finding, guard.statistics.loops) == ("stop", None, 0)


def test_tokens_and_dollars_are_what_the_host_reports():
    guard = Guard(budget={"tokens": 1000, "turn": {"dollars": 2}})
    guard.spend(tokens=700, dollars=1.5)
    assert notes(guard, "a") == [None]
    guard.spend(tokens=100, dollars=0.25)
    words = step(guard, "b").message
    assert "1.75 of 2.00 dollars of this turn are spent. 800 of 1000 tokens of this session" in words
    guard.user_message("go on")
    guard.spend(tokens=1)
    assert notes(guard, "cd") == [None, None]
    with pytest.raises(ValueError, match="dollars: expected a number from 0"):
        guard.spend(dollars=-1)


def test_a_budget_goes_with_every_setup_and_with_the_state():
    budget = {"calls": 5}
    config = "preset = 'nudge'\nbudget.calls = 5"
    guards = [
        Guard("nudge", budget=budget),
        Guard(config=config),
        Guard(config={"preset": "nudge", "budget": budget}),
        Guards("nudge", budget=budget).get("s"),
        # It replaces the one of the configuration.
        Guard(config=config.replace("5", "50"), budget=budget),
    ]
    for guard in guards:
        assert notes(guard, "abc") == [None] * 3
        for copy in (
            pickle.loads(pickle.dumps(guard)),
            Guard.restore(guard.save(), "nudge", budget=budget),
        ):
            assert step(copy, "d").message.startswith("[unstuck] 4 of 5 calls")


def test_without_a_budget_nothing_is_said():
    guard = Guard()
    guard.spend(tokens=10**9, dollars=1e9)
    assert notes(guard, map(str, range(500))) == [None] * 500


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({"hours": 1}, "a budget has no field `hours`"),
        ({}, "a budget needs a limit: calls, tokens, dollars, minutes"),
        ({"calls": 0}, "expected a whole number from 1"),
        ({"calls": 1, "at_limit": "stop"}, "expected one of note, ask, refuse"),
    ],
)
def test_a_wrong_budget_says_what_is_right(budget, words):
    with pytest.raises(PolicyError, match=words):
        Guard(budget=budget)
    with pytest.raises(TypeError, match="budget: expected a dict, not int"):
        Guard(budget=3)
