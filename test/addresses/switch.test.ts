/** `TOLLGATE_ALLOW_PRIVATE_ADDRESSES`. docs/operate.md. */
import { expect, it } from "vitest";
import { readEnvironment } from "../../src/cli/environment.ts";
import { silentLog } from "../../src/base/log.ts";
import { startTestGateway } from "../support/gateway.ts";

const name = "TOLLGATE_ALLOW_PRIVATE_ADDRESSES";

it("private addresses are allowed only if the operator sets it", () => {
  const read = (value: string) => readEnvironment({ [name]: value }).allowPrivateAddresses;
  expect([read("on"), read("off"), read("")]).toEqual([true, false, false]);
  expect(readEnvironment({}).allowPrivateAddresses).toBe(false);
  expect(() => read("yes")).toThrow(`${name} is "yes"; it takes on, off`);
});

it("a start with private addresses allowed logs a warning", async () => {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, message: string) => void warnings.push(message) };
  const gateway = await startTestGateway({ log, environment: { [name]: "on" } });
  await gateway.close();
  expect(warnings.filter((one) => one.includes(name))).toHaveLength(1);
});
