// Commands to aggregates, of the program that examples/bank_account/bank.cpp is.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";

import { connect, InvalidArgumentError, type Client } from "../src/index.js";
import { root } from "./server.js";

const server = process.env["EVERSHARD_SERVER"] ?? join(root, "build/dev/cli/evershard");
const bank = join(dirname(dirname(server)), "examples/bank_account/bank");
const needsBank = existsSync(bank) ? {} : { skip: `there is no ${bank}: build it` };

async function bankClient(t: TestContext): Promise<Client> {
  const directory = mkdtempSync(join(tmpdir(), "evershard-commands-"));
  const words = ["serve", "--data", join(directory, "data"), "--listen", "127.0.0.1:0", "--http-listen", "none"];
  const child = spawn(bank, [...words, "--log-level", "error"], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const client = connect(/^ready (\S+)/.exec(line)![1]!);
  t.after(async () => {
    client.close();
    child.kill("SIGTERM");
    await exited;
    rmSync(directory, { recursive: true, force: true });
  });
  return client;
}

test("aggregates are asked with JSON", needsBank, async (t) => {
  const store = await bankClient(t);
  const opened = await store.ask("bank_account-ann", "bank.OpenAccount", { owner: "Ann" });
  assert.deepEqual(opened, { outcome: "replied", reply: { amount: "0" }, duplicate: false, version: 1, position: 1 });
  const pay = () =>
    store.ask("bank_account-ann", "bank.Deposit", { amount: 70 }, { commandId: "pay", timeoutMs: 60_000 });
  const paid = await pay();
  assert.deepEqual(paid, { outcome: "replied", reply: { amount: "70" }, duplicate: false, version: 2, position: 2 });
  assert.deepEqual(await pay(), { ...paid, duplicate: true });
  assert.equal(store.seen, 2);
  assert.deepEqual(await store.ask("bank_account-ann", "bank.Withdraw", { amount: 71 }), {
    outcome: "rejected",
    rejection: "insufficient funds",
    version: 2,
  });
  const balance = await store.ask("bank_account-ann", "bank.GetBalance");
  assert.deepEqual(balance.outcome === "replied" && balance.reply, { amount: "70" });
});

test("aggregates are asked with messages of what is listed", needsBank, async (t) => {
  const store = await bankClient(t);
  const { kinds, registry } = await store.kinds();
  assert.deepEqual(
    kinds.map(({ type, state }) => [type, state.message]),
    [["bank_account", "bank.Account"]],
  );
  const deposit = kinds[0]!.commands.find(({ name }) => name === "bank.Deposit")!;
  assert.deepEqual(deposit.reply, { payloadFormat: 2, message: "bank.Balance" });
  assert.equal(deposit.query, false);
  assert.deepEqual(
    kinds[0]!.events.filter(({ old }) => old).map(({ name }) => name),
    ["bank.MoneyMoved"],
  );

  const open = registry.getMessage("bank.OpenAccount")!;
  const bytes = toBinary(open, create(open, { owner: "Bob" }));
  const opened = await store.ask("bank_account-bob", "bank.OpenAccount", bytes);
  assert.ok(opened.outcome === "replied" && opened.reply instanceof Uint8Array);
  assert.equal((fromBinary(registry.getMessage("bank.Balance")!, opened.reply) as { amount?: bigint }).amount, 0n);
});

test("what is wrong is refused", needsBank, async (t) => {
  const store = await bankClient(t);
  const refused = (said: RegExp) => (error: unknown) =>
    error instanceof InvalidArgumentError && said.test(error.message);
  await assert.rejects(store.ask("bank_account-ann", "bank.Deposit", { amount: "much" }), refused(/\(amount\)/));
  await assert.rejects(store.ask("bank_account-ann", "bank.Deposits"), refused(/"bank.Deposit"/));
  await assert.rejects(store.ask("order-1", "bank.Deposit"), refused(/"bank_account"/));
  await assert.rejects(store.ask("bank_account-ann", "bank.Deposit", new Uint8Array([255])), refused(/bank.Deposit/));
  assert.equal(await store.head(), 0);
});
