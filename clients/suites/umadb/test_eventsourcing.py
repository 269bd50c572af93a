"""The cases that the package `eventsourcing` brings for every store, bound to its adapter for UmaDB."""

import pathlib
import tempfile
from typing import ClassVar

from eventsourcing.dcb.tests import DcbRecorderTestCase
from eventsourcing.persistence import AggregateRecorder, ApplicationRecorder
from eventsourcing.tests.persistence import AggregateRecorderTestCase, NonInterleavingNotificationIDsBaseCase
from eventsourcing_umadb.recorders import UmaDbAggregateRecorder, UmaDbApplicationRecorder, UmaDbDcbRecorder
from umadb import Client

from served import Evershard


class WithServer:
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.server = Evershard(pathlib.Path(self.folder.name) / "data")
        self.server.start()
        self.client = Client(self.server.url)

    def tearDown(self) -> None:
        self.client.close()
        self.server.kill()
        self.folder.cleanup()


class TestAggregateRecorder(WithServer, AggregateRecorderTestCase):
    recorder_supports_idempotent_appends: ClassVar[bool] = True

    def create_recorder(self) -> AggregateRecorder:
        return UmaDbAggregateRecorder(umadb=self.client)


class TestNonInterleaving(WithServer, NonInterleavingNotificationIDsBaseCase):
    insert_num = 1000

    def create_recorder(self) -> ApplicationRecorder:
        return UmaDbApplicationRecorder(umadb=self.client)


class TestDcbRecorder(WithServer, DcbRecorderTestCase):
    def test_append_read(self) -> None:
        self._test_append_read(UmaDbDcbRecorder(self.client), 0)

    def test_append_subscribe(self) -> None:
        self._test_append_subscribe(UmaDbDcbRecorder(self.client), 0)


del AggregateRecorderTestCase, NonInterleavingNotificationIDsBaseCase, DcbRecorderTestCase
