"""A walk through the Python library `eventsourcing` with its adapter for KurrentDB. Usage: adapter.py HOST:PORT"""

import os
import sys
from uuid import UUID

os.environ["PERSISTENCE_MODULE"] = "eventsourcing_kurrentdb"
os.environ["KURRENTDB_URI"] = f"kdb://{sys.argv[1]}?Tls=false"

from eventsourcing.application import AggregateNotFoundError, Application  # noqa: E402
from eventsourcing.domain import Aggregate, event  # noqa: E402
from eventsourcing.persistence import IntegrityError  # noqa: E402


class Account(Aggregate):
    INITIAL_VERSION = 0

    @event("Opened")
    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.balance = 0

    @event("Deposited")
    def deposit(self, cents: int) -> None:
        self.balance += cents


class Bank(Application[UUID]):
    snapshotting_intervals = {Account: 5}  # noqa: RUF012

    def open(self, owner: str) -> tuple[UUID, int]:
        account = Account(owner)
        return account.id, self.save(account)[-1].notification.id

    def deposit(self, account_id: UUID, cents: int) -> None:
        account = self.repository.get(account_id)
        account.deposit(cents)
        self.save(account)


bank = Bank()
account_id, opened_at = bank.open("Ada")
for cents in range(1, 11):
    bank.deposit(account_id, cents)
assert bank.repository.get(account_id).balance == 55
assert bank.repository.get(account_id, version=4).balance == 10
seen = [n for n in bank.recorder.select_notifications(opened_at, 100) if n.originator_id == str(account_id)]
assert [n.originator_version for n in seen] == list(range(11)), seen

one, other = bank.repository.get(account_id), bank.repository.get(account_id)
one.deposit(1)
other.deposit(2)
bank.save(one)
try:
    bank.save(other)
    raise SystemExit("a conflict was not noticed")
except IntegrityError:
    pass
try:
    bank.repository.get(UUID(int=7))
    raise SystemExit("an account was found that is not there")
except AggregateNotFoundError:
    pass

with bank.recorder.subscribe(gt=opened_at) as subscription:
    for notification in subscription:
        if notification.originator_id == str(account_id) and notification.originator_version == 11:
            break
bank.close()
print("python: eventsourcing's adapter: done")
