"""Commands to aggregates, of the program that examples/bank_account/bank.cpp is."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Iterator

import pytest
from conftest import PROGRAM

import evershard
from evershard import Client, InvalidArgumentError

BANK = pathlib.Path(PROGRAM).parents[1] / "examples/bank_account/bank"


@pytest.fixture
def bank(tmp_path: pathlib.Path) -> Iterator[Client]:
    if not BANK.exists():
        pytest.skip("no bank beside the server: build it")
    words = [BANK, "serve", "--data", tmp_path / "store", "--listen", "127.0.0.1:0", "--http-listen", "none"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    ready = process.stdout.readline().split()
    assert ready[:1] == ["ready"]
    try:
        with Client(ready[1]) as client:
            yield client
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def test_are_asked_with_json(bank: Client) -> None:
    opened = bank.ask("bank_account-ann", "bank.OpenAccount", {"owner": "Ann"})
    assert opened
    assert (opened.reply, opened.version, opened.position) == ({"amount": "0"}, 1, 1)
    paid = bank.ask("bank_account-ann", "bank.Deposit", {"amount": 70}, command_id="pay", timeout=60)
    again = bank.ask("bank_account-ann", "bank.Deposit", {"amount": 70}, command_id="pay")
    assert (paid.reply, paid.duplicate) == ({"amount": "70"}, False)
    assert (again.reply, again.duplicate, again.position) == ({"amount": "70"}, True, paid.position)
    assert bank.seen == paid.position
    refused = bank.ask("bank_account-ann", "bank.Withdraw", {"amount": 71})
    assert not refused
    assert (refused.rejection, refused.version) == ("insufficient funds", 2)
    assert bank.ask("bank_account-ann", "bank.GetBalance").reply == {"amount": "70"}


def test_are_asked_with_messages_of_what_is_listed(bank: Client) -> None:
    hosted = bank.kinds()
    (kind,) = hosted.kinds
    assert kind.type == "bank_account"
    assert kind.state.message == "bank.Account"
    commands = {command.name: command for command in kind.commands}
    assert commands["bank.GetBalance"].query
    assert commands["bank.Deposit"].reply == evershard.HostedType(2, "bank.Balance")
    assert [event.name for event in kind.events if event.old] == ["bank.MoneyMoved"]

    open_account = hosted.message_class("bank.OpenAccount")
    balance = hosted.message_class("bank.Balance")
    opened = bank.ask("bank_account-bob", open_account(owner="Bob", overdraft=10))
    assert balance.FromString(opened.reply).amount == 0  # type: ignore[attr-defined]
    withdrawn = bank.ask("bank_account-bob", "bank.Withdraw", hosted.message_class("bank.Withdraw")(amount=7))
    assert balance.FromString(withdrawn.reply).amount == -7  # type: ignore[attr-defined]
    with pytest.raises(InvalidArgumentError, match="no message"):
        hosted.message_class("bank.Nothing")


def test_refuse_what_is_wrong(bank: Client) -> None:
    for command, payload, said in (
        ("bank.Deposit", {"amount": "much"}, r"\(amount\)"),
        ("bank.Deposit", {"amont": 1}, "amont"),
        ("bank.Deposits", {}, '"bank.Deposit"'),
        ("bank.Deposit", b"\xff\xff", "bank.Deposit"),
    ):
        with pytest.raises(InvalidArgumentError, match=said):
            bank.ask("bank_account-ann", command, payload)
    with pytest.raises(InvalidArgumentError, match='"bank_account"'):
        bank.ask("order-1", "bank.Deposit")
    with pytest.raises(InvalidArgumentError, match="no JSON"):
        bank.ask("bank_account-ann", "bank.Deposit", {"amount": float("nan")})
    assert bank.head() == 0
